import type { TabOptions } from "./talk.ts";

/** What is done in a run. */
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
