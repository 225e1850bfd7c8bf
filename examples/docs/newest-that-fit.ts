import { countMessage, type Policy, type Unit } from "@colloquy/machine";

/** A policy of one's own: shows as many of the newest turns as fit into the budget, each of them whole. */
export const newestThatFit = (): Policy => ({
  name: "newest-that-fit",
  version: 1,
  options: {},
  monotone: true, // a larger budget keeps no less
  stable: false, // its beginning moves with each turn
  decide: ({ history, budget, counter }) => {
    if (budget === null) return { from: null, reason: "there is no budget" };
    const tokensOf = (units: readonly Unit[]): number =>
      units.flatMap(({ messages }) => messages).reduce((sum, message) => sum + countMessage(counter, message), 0);

    let left = budget.tokens - budget.reserve - counter.perPrompt - tokensOf(history.fixed());
    let oldest = Number.MAX_SAFE_INTEGER; // so far nothing but the open turn
    for (const turn of history.newestFirst()) {
      left -= tokensOf(turn.units());
      if (left < 0) return { from: { turn: oldest, unit: 0 }, reason: `turn ${turn.number} does not fit` };
      oldest = turn.number;
    }
    return { from: null, reason: "everything fits" };
  },
});
