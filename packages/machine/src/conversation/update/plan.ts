import { type ConversationData, type Leaf, type StateValue, stateValues } from "../protocol/data.ts";
import type { Effect } from "../protocol/effect.ts";
import type { Prompts } from "../../prompt/prompts.ts";

/** The result of an accepted event: the data after it, the arrow to take, and the effects. */
export interface Plan {
  readonly data: ConversationData;
  readonly arrow: Arrow;
  /**
   * Returns the effects in the order in which they must be performed. They are built only on request: folding a
   * journal needs none.
   */
  readonly effects: (prompts: Prompts) => readonly Effect[];
}

/** A plan with its effects; everything is frozen. */
export interface Step extends Pick<Plan, "data" | "arrow"> {
  readonly effects: readonly Effect[];
}

/** The name of the next state; `stays` for no change. */
export type Arrow = "stays" | Exclude<Leaf, "idle">;

export const follow = (value: StateValue, arrow: Arrow): StateValue => (arrow === "stays" ? value : stateValues[arrow]);

export const staying = (data: ConversationData, effects: Plan["effects"] = noEffects): Plan => ({
  data,
  arrow: "stays",
  effects,
});

export const noEffects = (): readonly Effect[] => [];
