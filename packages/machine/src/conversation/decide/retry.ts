import { digestOf } from "../../thread/digest.ts";
import type { Failure } from "../../thread/turn.ts";
import type { Retry } from "./options.ts";

/**
 * When a failed call is made again, in milliseconds since the epoch, or null when it is not. Exponential
 * backoff with jitter between half and all of the delay, derived from the id of the timer, so that the same
 * failure waits the same time in every replay. A wait that the server asked for is never cut short.
 */
export const retryAt = (
  retry: Retry,
  failure: Failure,
  attempt: number,
  at: number,
  timerId: string,
): number | null => {
  if (!failure.retryable || attempt > retry.attempts || !retry.kinds.includes(failure.kind)) return null;
  const asked = failure.retryAfterMs ?? 0;
  if (asked > retry.maxRetryAfterMs) return null;
  const delay = Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** Math.min(attempt - 2, doublings));
  return at + Math.max(asked, Math.round(delay * (0.5 + fractionOf(timerId) / 2)));
};

/** Beyond these every delay is the longest. */
const doublings = 40;

const fractionOf = (text: string): number => (Number.parseInt(digestOf(text).slice(-6), 36) % 1000) / 1000;
