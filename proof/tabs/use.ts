import type { TabOptions } from "./talk.ts";

/** How the tabs of a conversation are used. */
export interface Use {
  readonly asks: number;
  readonly tabs: number;
  /** How often a tab goes. */
  readonly closes: number;
  /** How often a tab stands still past its lease. */
  readonly stalls: number;
  readonly options: Omit<TabOptions, "tab">;
}
