import type { History, PolicyDecision, PolicyInput } from "../policy.ts";
import type { Unit } from "../unit.ts";

/**
 * Returns whether the whole thread fits, apart from what a decision leaves out. `room` defaults to the available
 * tokens. It reads the newest turns first and doubles their number each time. So a long thread that does not fit costs
 * no more than its window.
 */
export const fits = (
  { available, history, measure }: PolicyInput,
  decision: Omit<PolicyDecision, "from" | "reason"> = {},
  room: number | null = available,
): boolean => {
  if (room === null) return true;
  let looked = 0;
  let next = 8;
  for (const { number } of history.newestFirst()) {
    if (++looked < next) continue;
    if (measure({ ...decision, from: { turn: number, unit: 0 } }) > room) return false;
    next *= 2;
  }
  return measure({ ...decision, from: null }) <= room;
};

/** Returns the units of the open turn, oldest first, taken from those that a history always shows. */
export const openUnits = (history: History): readonly Unit[] => {
  const fixed = history.fixed();
  const newest = fixed.reduce((number, { turn }) => Math.max(number, turn), 0);
  // Turns are numbered in the order of opening, so the open one has the highest number; the system message has 0.
  return newest <= newestClosed(history) ? [] : fixed.filter(({ turn }) => turn === newest);
};

export const newestClosed = (history: History): number => {
  for (const { number } of history.newestFirst()) return number;
  return 0;
};
