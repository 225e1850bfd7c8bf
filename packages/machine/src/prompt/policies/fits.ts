import type { PolicyDecision, PolicyInput } from "../policy.ts";

/**
 * Whether the whole thread fits into so many tokens, but for what a decision leaves out; without a number, the room. Looks at the newest turns first, and
 * at twice as many each time, so that a long thread that does not fit costs no more than its window.
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
