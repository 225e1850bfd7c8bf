import type { Policy } from "@colloquy/machine/policies";

/** A policy of one's own: shows as many of the newest turns as fit into the room, each of them whole. */
export const newestThatFit = (): Policy => ({
  name: "newest-that-fit",
  version: 1,
  options: {},
  monotone: true, // a larger budget keeps no less
  stable: false, // its beginning moves with each turn
  newestFirst: true, // what fits is shown, newest first
  decide: ({ history, available, count }) => {
    if (available === null) return { from: null, reason: "there is no budget" };
    let left = available - history.fixedTokens();
    let from = { turn: Number.MAX_SAFE_INTEGER, unit: 0 }; // so far nothing but the open turn
    for (const turn of history.newestFirst()) {
      left -= turn.tokens();
      if (left < 0) return { from, pressed: true, reason: `turn ${turn.number} is too much` };
      // A prompt begins with a user message: before a turn without one comes the question of an earlier turn.
      const start = { turn: turn.number, unit: 0 };
      const lead = history.lead(start)?.messages ?? [];
      if (lead.reduce((tokens, message) => tokens + count(message), 0) <= left) from = start;
    }
    return { from: null, reason: "everything fits" };
  },
});
