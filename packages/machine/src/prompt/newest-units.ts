import type { HistoryTurn } from "./policy.ts";
import { behind, questionIn, type Start, type Unit, type UnitPosition } from "./unit.ts";

/** The weights of turns and units. A turn weighs as much as its units. */
export interface Weights {
  readonly turn: (turn: HistoryTurn) => number;
  readonly unit: (unit: Unit) => number;
  /** Returns the weight of the question from another turn that leads a window which begins at a unit. */
  readonly lead: (from: UnitPosition) => number;
}

/**
 * Returns the start of the newest units that together weigh at most `limit`, with the question shown beside them. It
 * reads the turns that fit and one more, and splits only that one, unless the question does not fit. (A window that
 * begins later never weighs more: its leading question is inside the earlier window, or leads that too.)
 */
export const newestWithin = (turns: Iterable<HistoryTurn>, limit: number, weights: Weights): Start => {
  let left = limit;
  const whole: HistoryTurn[] = [];
  for (const turn of turns) {
    const weight = weights.turn(turn);
    if (weight > left)
      return (
        newestIn(turn, left, weights) ?? oldestLed(whole, left, weights) ?? behind(whole[0]?.number ?? turn.number)
      );
    left -= weight;
    whole.push(turn);
  }
  const oldest = whole.at(-1);
  if (oldest === undefined || weights.lead({ turn: oldest.number, unit: 0 }) <= left) return null;
  return oldestLed(whole, left, weights) ?? behind(whole[0]?.number ?? oldest.number);
};

/** Returns the oldest start within some turns, given newest first, at which the leading question fits too. */
const oldestLed = (turns: readonly HistoryTurn[], room: number, weights: Weights): UnitPosition | null => {
  let left = room;
  for (const turn of turns.toReversed()) {
    if (weights.lead({ turn: turn.number, unit: 0 }) <= left) return { turn: turn.number, unit: 0 };
    const start = newestIn(turn, left + weights.turn(turn), weights);
    if (start !== null) return start;
    left += weights.turn(turn);
  }
  return null;
};

/**
 * Returns the start of the newest units that fit, if only a whole prompt can be measured. If a prompt does not fit, no
 * prompt that shows more may fit. It measures a logarithmic number of prompts, none of them more than twice as long as
 * the fitting one.
 */
export const newestMeasured = (turns: Iterable<HistoryTurn>, fits: (from: UnitPosition) => boolean): Start => {
  const seen: HistoryTurn[] = [];
  const turnsFit = (count: number): boolean => {
    const oldest = seen[count - 1];
    return oldest === undefined || fits({ turn: oldest.number, unit: 0 });
  };
  let fitting = 0;
  let overflows = false;
  for (const turn of turns) {
    seen.push(turn);
    if (seen.length < fitting * 2) continue;
    overflows = !turnsFit(seen.length);
    if (overflows) break;
    fitting = seen.length;
  }
  const allFit = !overflows && (seen.length === fitting || turnsFit(seen.length));
  const whole = allFit ? seen.length : most(fitting, seen.length, turnsFit);
  const last = seen[whole];
  if (last === undefined) return null;
  const units = last.units();
  const startOf = (count: number): UnitPosition => ({
    turn: last.number,
    unit: units[units.length - count]?.position ?? 0,
  });
  const inLast = most(0, units.length, (count) => fits(startOf(count)));
  if (inLast > 0) return startOf(inLast);
  const oldest = seen[whole - 1];
  return oldest === undefined ? behind(last.number) : { turn: oldest.number, unit: 0 };
};

/** Returns the oldest possible start within a turn that is too heavy as a whole. */
const newestIn = (turn: HistoryTurn, limit: number, weights: Weights): UnitPosition | null => {
  const units = turn.units();
  const question = questionIn(turn.number, units);
  let left = limit;
  let oldest: UnitPosition | null = null;
  for (const unit of units.toReversed()) {
    left -= weights.unit(unit);
    if (left < 0) break;
    const from = { turn: unit.turn, unit: unit.position };
    const led =
      question !== undefined && question.position < unit.position ? weights.unit(question) : weights.lead(from);
    if (led <= left) oldest = from;
  }
  return oldest;
};

/** Returns the largest count that fits, by bisection between one that fits and one that does not. */
const most = (fitting: number, overflowing: number, fits: (count: number) => boolean): number => {
  let [low, high] = [fitting, overflowing];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
};
