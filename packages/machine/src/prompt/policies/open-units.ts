import type { History } from "../policy.ts";
import type { Unit } from "../unit.ts";

/** Returns the units of the open turn, oldest first, taken from those that a history always shows. */
export const openUnits = (history: History): readonly Unit[] => {
  const fixed = history.fixed();
  const newest = fixed.reduce((number, { turn }) => Math.max(number, turn), 0);
  // Turns are numbered in the order of opening, so the open one has the highest number; the system message has 0.
  return newest <= newestClosed(history) ? [] : fixed.filter(({ turn }) => turn === newest);
};

/** Returns the number of the newest closed turn, or 0. */
export const newestClosed = (history: History): number => {
  for (const { number } of history.newestFirst()) return number;
  return 0;
};
