import type { ConversationData } from "../protocol/data.ts";
import type { Effect } from "../protocol/effect.ts";
import type { StateValue } from "../protocol/state.ts";

/** What an accepted event comes to: the data after it, where the arrow leads, and what is wanted done. */
export interface Plan {
  readonly data: ConversationData;
  readonly arrow: Arrow;
  /** In the order in which they must be performed. Built only when asked for: folding a journal needs none. */
  readonly effects: () => readonly Effect[];
}

/** Where an event leads; `stays` where it is. */
export type Arrow =
  | "stays"
  | "responding"
  | "compacting"
  | "backing_off"
  | "running"
  | "awaiting_approval"
  | "completed"
  | "error";

/** The state that an arrow leads to, from another. */
export const follow = (value: StateValue, arrow: Arrow): StateValue => (arrow === "stays" ? value : targets[arrow]);

const targets: { readonly [To in Exclude<Arrow, "stays">]: StateValue } = {
  responding: { awaiting_llm: "responding" },
  compacting: { awaiting_llm: "compacting" },
  backing_off: { awaiting_llm: "backing_off" },
  running: { awaiting_tool: "running" },
  awaiting_approval: { awaiting_tool: "awaiting_approval" },
  completed: "completed",
  error: "error",
};

export const noEffects = (): readonly Effect[] => [];
