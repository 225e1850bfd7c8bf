import { ConfigurationError } from "../configuration-error.ts";
import type { Policy } from "../policy.ts";

/**
 * Shows the newest `count` closed turns of the path, and the open one. 0 shows none but the open one. The seed
 * counts as the oldest turn.
 *
 * Not stable: the window moves with every turn, and with it the beginning of the prompt.
 *
 * @throws ConfigurationError when `count` is no whole number of 0 or more.
 */
export const lastTurns = (count: number): Policy => {
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new ConfigurationError(
      `lastTurns(${String(count)}): the number of turns must be a whole number of 0 or more`,
    );
  }
  return {
    name: "last-turns",
    version: 1,
    options: { count },
    monotone: true,
    stable: false,
    decide: ({ history }) => {
      let seen = 0;
      let oldest = Number.MAX_SAFE_INTEGER;
      for (const turn of history.newestFirst()) {
        if (seen === count) return cutAt(oldest, count);
        seen++;
        oldest = turn.number;
      }
      return everything;
    },
  };
};

const everything = { from: null, reason: "no more turns than are kept" };

const cutAt = (turn: number, count: number) => ({
  from: { turn, unit: 0 },
  reason: `older than the last ${count} turns`,
});
