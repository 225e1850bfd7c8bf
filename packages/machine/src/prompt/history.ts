import { toArray } from "../thread/chunks.ts";
import { turnsNewestFirst } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { History, HistoryTurn } from "./policy.ts";
import type { Unit } from "./unit.ts";
import { unitsOf } from "./unit.ts";

/** The closed turns of a thread as a policy sees them. `fixed` is asked only by policies that look at it. */
export const historyOf = (thread: Thread, fixed: () => readonly Unit[]): History => ({
  fixed,
  newestFirst: () => newestFirst(thread),
});

function* newestFirst(thread: Thread): Generator<HistoryTurn, void, void> {
  for (const turn of turnsNewestFirst(thread)) {
    yield {
      number: turn.number,
      interrupted: turn.outcome.status !== "completed",
      units: () => unitsOf(turn.number, toArray(turn.messages)),
    };
  }
  if (thread.seed.length > 0) yield { number: 0, interrupted: false, units: () => unitsOf(0, thread.seed) };
}
