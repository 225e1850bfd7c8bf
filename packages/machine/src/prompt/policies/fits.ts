import type { PolicyDecision, PolicyInput } from "../policy.ts";

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
