import type { Policy } from "@colloquy/machine/policies";

/** A custom policy: shows as many whole turns as fit, from the newest back. */
export const newestThatFit = (): Policy => ({
  name: "newest-that-fit",
  version: 1,
  options: {},
  monotone: true, // a larger budget never keeps less
  stable: false, // the prompt's beginning moves with each turn
  newestFirst: true, // keeps the newest turns first
  decide: ({ history, available, count }) => {
    if (available === null) return { from: null, reason: "there is no budget" };
    let left = available - history.fixedTokens();
    let from = { turn: Number.MAX_SAFE_INTEGER, unit: 0 }; // so far only the open turn
    for (const turn of history.newestFirst()) {
      left -= turn.tokens();
      if (left < 0) return { from, pressed: true, reason: `turn ${turn.number} is too much` };
      // A prompt begins with a user message: a turn without one needs the question of an earlier turn before it.
      const start = { turn: turn.number, unit: 0 };
      const lead = history.lead(start)?.messages ?? [];
      if (lead.reduce((tokens, message) => tokens + count(message), 0) <= left) from = start;
    }
    return { from: null, reason: "everything fits" };
  },
});
