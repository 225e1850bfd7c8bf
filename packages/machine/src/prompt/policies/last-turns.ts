import type { History, Policy } from "../policy.ts";
import { windowOf } from "../newest-first.ts";
import { behind, nowhere, type Start } from "../unit.ts";
import { checkCount, checkKeys } from "./check-options.ts";
import { settled } from "./settled.ts";

export interface LastTurnsOptions {
  /**
   * The number of further turns that are shown before it cuts to `count` again, so that the prompt's beginning stays
   * the same meanwhile. Default 0.
   */
  readonly slack?: number;
}

/**
 * Shows the newest `count` closed turns of the path, and the open one. With 0 it shows only the open one. The seed
 * counts as the oldest turn.
 *
 * Without slack the window moves with every turn, and with it the beginning of the prompt.
 *
 * @throws ConfigurationError if `count` or `slack` is not a whole number ≥ 0.
 */
export const lastTurns = (count: number, options: LastTurnsOptions = {}): Policy => {
  checkCount("lastTurns(count)", count);
  checkKeys("lastTurns(count, options)", options, ["slack"]);
  const { slack = 0 } = options;
  checkCount("lastTurns({ slack })", slack);
  return {
    name: "last-turns",
    version: 1,
    options: slack === 0 ? { count } : { count, slack },
    // With slack, more history may trigger a cut, which shows less.
    monotone: slack === 0,
    stable: slack > 0,
    newestFirst: { turns: windowOf(count, count + slack) },
    decide: (input) => {
      const { history } = input;
      const newest = (turns: number) => newestTurns(history, turns);
      const from =
        slack === 0
          ? newestTurns(history, count, nowhere)
          : settled({ last: input.lastCut?.from ?? null, most: newest(count + slack), least: newest(count) });
      return from === null
        ? { from, reason: "all turns are kept" }
        : { from, reason: `older than the last ${count} turns` };
    },
  };
};

/** For zero turns it returns `none`, or the place right after the newest turn. */
const newestTurns = (history: History, count: number, none?: Start): Start => {
  let seen = 0;
  let start: Start = null;
  for (const { number } of history.newestFirst()) {
    if (seen === count) return start ?? none ?? behind(number);
    seen++;
    start = { turn: number, unit: 0 };
  }
  return null;
};
