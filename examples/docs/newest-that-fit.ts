import type { Policy } from "@colloquy/machine/policies";

/** A policy of one's own: shows as many of the newest turns as fit into the room, each of them whole. */
export const newestThatFit = (): Policy => ({
  name: "newest-that-fit",
  version: 1,
  options: {},
  monotone: true, // a larger budget keeps no less
  stable: false, // its beginning moves with each turn
  newestFirst: true, // what fits is shown, newest first
  decide: ({ history, available }) => {
    if (available === null) return { from: null, reason: "there is no budget" };
    let left = available - history.fixedTokens();
    let oldest = Number.MAX_SAFE_INTEGER; // so far nothing but the open turn
    for (const turn of history.newestFirst()) {
      left -= turn.tokens();
      if (left < 0)
        return { from: { turn: oldest, unit: 0 }, pressed: true, reason: `turn ${turn.number} is too much` };
      oldest = turn.number;
    }
    return { from: null, reason: "everything fits" };
  },
});
