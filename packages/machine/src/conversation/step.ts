import { leafOf } from "./arrows.ts";
import type { Arrows } from "./arrows.ts";
import type { Event } from "./event.ts";
import type { Plan } from "./plan.ts";
import type { State } from "./state.ts";

/**
 * Steps a conversation as XState's own `transition()` does, by the machine's own arrows and without interpreting
 * them anew for each event, which is most of what that costs. Null where the statechart has no such arrow.
 */
export const step = (arrows: Arrows, state: State, event: Event, plan: Plan): State | null => {
  const value = arrows[leafOf(state.value)][event.type]?.[plan.arrow];
  if (value === undefined) return null;
  return Object.freeze({ value: plan.arrow === "stays" ? state.value : value, context: plan.data });
};
