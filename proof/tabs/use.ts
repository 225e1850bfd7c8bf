import type { BrowserContext } from "playwright-core";

import type { Random } from "../kit/random.ts";
import type { TabServer } from "./server.ts";
import type { TabOptions } from "./talk.ts";

/** The options of a run. */
export interface RunOptions {
  readonly asks: number;
  readonly tabs: number;
  /** How often a tab goes. */
  readonly closes: number;
  /** How often a tab stands still past its lease, which is short then; else it is so long that nobody could wait for its end. */
  readonly stalls: number;
}

/** How the tabs of a conversation are used. */
export interface Use extends RunOptions {
  readonly options: Omit<TabOptions, "tab">;
}

/** The parts of a conversation in tabs. */
export interface ConversationParts {
  readonly context: BrowserContext;
  readonly server: TabServer;
  readonly url: string;
  readonly random: Random;
  readonly use: Use;
}
