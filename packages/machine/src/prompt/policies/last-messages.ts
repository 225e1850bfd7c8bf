import { ConfigurationError } from "../configuration-error.ts";
import type { Policy } from "../policy.ts";
import { windowOf } from "../newest-first.ts";
import { newestWithin, type Weights } from "../newest-units.ts";
import { checkCount, checkFlag, checkKeys } from "./check-options.ts";
import { openUnits } from "./fits.ts";
import { settled } from "./settled.ts";

export interface LastMessagesOptions {
  /** A thread with more messages than this is cut. Default 50. */
  readonly max?: number;
  /** The number of newest messages that a cut leaves, at most `max`. Default 10, or `max` if that is less. */
  readonly keepRecent?: number;
  /** Whether the system message stays after a cut. Default true. */
  readonly keepSystem?: boolean;
}

/**
 * Shows the whole thread up to `max` messages. Beyond that it shows the newest `keepRecent` and all that follow, until
 * these exceed `max` again. The open turn counts, and is always shown; the system message does not count. A round is
 * never split: it is left out unless all of it is among the newest. With 0, only the open turn is shown.
 *
 * @throws ConfigurationError for a number that is not whole or below 0, a `keepRecent` above `max`, and a `keepSystem`
 * that is not a boolean.
 */
export const lastMessages = (options: LastMessagesOptions = {}): Policy => {
  checkKeys("lastMessages", options, ["max", "keepRecent", "keepSystem"]);
  const { max = 50, keepSystem = true } = options;
  const { keepRecent = Math.min(10, max) } = options;
  checkCount("lastMessages({ max })", max);
  checkCount("lastMessages({ keepRecent })", keepRecent);
  checkFlag("lastMessages({ keepSystem })", keepSystem);
  if (keepRecent > max) {
    throw new ConfigurationError(
      `lastMessages({ keepRecent }) is ${keepRecent}, more than max, which is ${max}; give at most max`,
    );
  }
  return {
    name: "last-messages",
    version: 1,
    options: { max, keepRecent, keepSystem },
    // More history may trigger a cut, which shows less, or no system message.
    monotone: keepRecent === max && keepSystem,
    stable: keepRecent < max,
    newestFirst: { messages: windowOf(keepRecent, max) },
    decide: (input) => {
      const { history } = input;
      const open = openUnits(history).reduce((total, { messages }) => total + messages.length, 0);
      const weights: Weights = { ...byMessages, lead: (from) => history.lead(from)?.messages.length ?? 0 };
      const newest = (count: number) => newestWithin(history.newestFirst(), count - open, weights);
      const most = newest(max);
      const from =
        keepRecent === max ? most : settled({ last: input.lastCut?.from ?? null, most, least: newest(keepRecent) });
      if (from === null) return { from, reason: `no more than ${max} messages` };
      return {
        from,
        reason: `older than the last ${keepRecent} messages when there were more than ${max}`,
        ...(keepSystem ? {} : { system: "omit" }),
      };
    },
  };
};

const byMessages: Omit<Weights, "lead"> = { turn: ({ length }) => length, unit: ({ messages }) => messages.length };
