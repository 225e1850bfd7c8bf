import { isCount } from "../../thread/plain-data.ts";

/**
 * The limits of one turn. Each is checked before an effect is requested, and a batch of tool calls is checked as a
 * whole. Zero means zero; absent means unlimited, except for steps. Non-negative integers.
 */
export interface Limits {
  /** Model calls, retries not counted. Default 50; null for no limit. Unit: calls. */
  readonly steps?: number | null;
  /** Tool calls, all steps together. Unit: calls. */
  readonly toolCalls?: number;
  /** No further call is made once so many tokens are reported. Unit: tokens. */
  readonly tokens?: number;
  /** No further call is made once the cost is so high. Unit: billionths of the currency. */
  readonly costNano?: number;
  /** Time from the opening of the turn to its end, including waits. Unit: milliseconds. */
  readonly deadlineMs?: number;
}

/** The default limit, because a model that calls a tool in every step would never stop. Unit: calls. */
export const defaultSteps = 50;

/** Returns an error for the first limit that is not a non-negative integer, or null. */
export const problemOfLimits = (limits: Limits): string | null => {
  for (const [name, value] of Object.entries(limits)) {
    if (!names.includes(name)) return `there is no limit "${name}"; there are: ${names.join(", ")}`;
    if (value !== undefined && !isCount(value) && !(name === "steps" && value === null)) {
      return `limit "${name}" is ${String(value)}; it must be a whole number of 0 or more (leave it out for no limit)`;
    }
  }
  return null;
};

const names: readonly string[] = ["steps", "toolCalls", "tokens", "costNano", "deadlineMs"];
