import type { ConversationData } from "../protocol/data.ts";
import type { Effect } from "../protocol/effect.ts";
import type { Prompts } from "../../prompt/prompts.ts";
import { type Leaf, type StateValue, stateValues } from "../protocol/state.ts";

/** What an accepted event comes to: the data after it, where the arrow leads, and what is wanted done. */
export interface Plan {
  readonly data: ConversationData;
  readonly arrow: Arrow;
  /** In the order in which they must be performed. Built only when asked for: folding a journal needs none. */
  readonly effects: (prompts: Prompts) => readonly Effect[];
}

/** Where an event leads; `stays` where it is. */
export type Arrow = "stays" | Exclude<Leaf, "idle">;

/** The state that an arrow leads to, from another. */
export const follow = (value: StateValue, arrow: Arrow): StateValue => (arrow === "stays" ? value : stateValues[arrow]);

/** What leads nowhere else. */
export const staying = (data: ConversationData, effects: Plan["effects"] = noEffects): Plan => ({
  data,
  arrow: "stays",
  effects,
});

export const noEffects = (): readonly Effect[] => [];
