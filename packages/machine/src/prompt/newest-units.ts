import type { HistoryTurn } from "./policy.ts";
import type { Unit } from "./unit.ts";
import { behind, type Start, type UnitPosition } from "./position.ts";

/** What turns and units weigh; a turn weighs what its units do. */
export interface Weights {
  readonly turn: (turn: HistoryTurn) => number;
  readonly unit: (unit: Unit) => number;
}

/**
 * Where the newest units begin that together weigh no more than a limit. Looks at the turns that they fill and
 * one more, and into that one alone.
 */
export const newestWithin = (turns: Iterable<HistoryTurn>, limit: number, weights: Weights): Start => {
  let left = limit;
  let oldest: number | null = null;
  for (const turn of turns) {
    const weight = weights.turn(turn);
    if (weight > left) {
      return (
        newestIn(turn.units(), left, weights) ?? (oldest === null ? behind(turn.number) : { turn: oldest, unit: 0 })
      );
    }
    left -= weight;
    oldest = turn.number;
  }
  return null;
};

/**
 * Where as many of the newest units begin as fit, when only a whole prompt can be asked whether it does. What shows
 * more must not fit where what shows less doesn't. Asks about the logarithm of what fits, and of nothing
 * more than twice as long.
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
  if (!overflows && (seen.length === fitting || turnsFit(seen.length))) return null;
  const whole = most(fitting, seen.length, turnsFit);
  const last = seen[whole];
  // Something did not fit, so there is a turn that is not whole.
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

/** The oldest that may be shown of a turn that is too heavy as a whole. */
const newestIn = (units: readonly Unit[], limit: number, weights: Weights): UnitPosition | null => {
  let left = limit;
  let oldest: UnitPosition | null = null;
  for (const unit of units.toReversed()) {
    left -= weights.unit(unit);
    if (left < 0) break;
    oldest = { turn: unit.turn, unit: unit.position };
  }
  return oldest;
};

/** The largest count that fits, where `fitting` does and `overflowing` does not. */
const most = (fitting: number, overflowing: number, fits: (count: number) => boolean): number => {
  let [low, high] = [fitting, overflowing];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
};
