import type { Fullness } from "./data.ts";

/** How full a prompt is: at its limit also where something was left out for want of room. */
export const fullnessOf = (tokens: number, available: number, pressed: boolean, warnAt: number): Fullness => {
  if (pressed || tokens >= available) return "at_limit";
  return tokens >= available * warnAt ? "approaching_limit" : "within";
};

/** Whether a prompt is fuller than the last one by a grade. */
export const isFuller = (now: Fullness, before: Fullness): boolean => grades.indexOf(now) > grades.indexOf(before);

const grades: readonly Fullness[] = ["within", "approaching_limit", "at_limit"];
