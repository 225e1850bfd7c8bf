import { isCount } from "../../thread/json.ts";

/**
 * How far one turn may go. Each is checked before anything is asked for, a batch of tool calls as a whole.
 * Zero means zero; absent means unlimited, but for steps. Non-negative integers.
 */
export interface Limits {
  /** Model calls, retries not counted. Default 50; null for no limit. Unit: calls. */
  readonly steps?: number | null;
  /** Tool calls, all steps together. Unit: calls. */
  readonly toolCalls?: number;
  /** Reported tokens after which no further call is made. Unit: tokens. */
  readonly tokens?: number;
  /** Cost after which no further call is made. Unit: billionths of the currency. */
  readonly costNano?: number;
  /** From the opening of the turn to its end, waiting included. Unit: milliseconds. */
  readonly deadlineMs?: number;
}

/** A model that calls a tool in every step must come to an end. Unit: calls. */
export const defaultSteps = 50;

/** The first limit that is no non-negative integer, in words, or null. */
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
