import { isCount } from "../thread/json.ts";
import type { Counter } from "./counter.ts";
import type { Policy } from "./policy.ts";

/** Returns what is invalid in a policy, or null. Plain JavaScript may pass anything. */
export const problemOfPolicy = ({ name, decide, summariser }: Policy): string | null => {
  if (typeof decide !== "function") return `policy "${name}" has no function "decide"`;
  if (summariser === undefined) return null;
  const { instruction, model, maxTokens, requestTokens = 1, waitMs = 0, next } = summariser;
  const of = `the summariser of policy "${name}"`;
  if (typeof instruction !== "string" || instruction === "") return `${of} has no instruction; give it a text`;
  if (typeof model !== "object" || model === null || Array.isArray(model))
    return `${of} has the model ${String(model)}; it must be an object of parameters ({} for the thread's)`;
  if (!isCount(maxTokens) || maxTokens === 0) return `${of} allows ${String(maxTokens)} tokens; it must be 1 or more`;
  if (!isCount(requestTokens) || requestTokens === 0)
    return `${of} allows its request ${String(requestTokens)} tokens; it must be 1 or more`;
  if (!isCount(waitMs)) return `${of} is waited for ${String(waitMs)} ms; it must be a whole number of 0 or more`;
  return typeof next === "function" ? null : `${of} has no function "next"`;
};

/** Returns what is invalid in a counter, or null. */
export const problemOfCounter = ({ name, countPart, perMessage, perPrompt, countPrompt }: Counter): string | null => {
  if (typeof countPart !== "function") return `counter "${name}" has no function "countPart"`;
  if (countPrompt !== undefined && typeof countPrompt !== "function")
    return `counter "${name}": countPrompt is no function`;
  if (isAsynchronous(countPart))
    return `counter "${name}" counts asynchronously; load what it needs with an await before, and count synchronously`;
  for (const [of, tokens] of Object.entries({ perMessage, perPrompt })) {
    if (!(Number.isFinite(tokens) && tokens >= 0))
      return `counter "${name}": ${of} is ${String(tokens)}; it must be 0 or more`;
  }
  return null;
};

/**
 * Returns whether a counter is asynchronous. Its promises would not be awaited, and a rejection would be unhandled.
 */
const isAsynchronous = (countPart: Counter["countPart"]): boolean => {
  try {
    const tokens: unknown = countPart({ type: "text", text: "" });
    if (!(tokens instanceof Promise)) return false;
    tokens.catch(() => {});
    return true;
  } catch {
    // A counter that throws is reported when it counts.
    return false;
  }
};
