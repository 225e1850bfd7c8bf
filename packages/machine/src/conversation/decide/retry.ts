import { digestOf } from "../../thread/digest.ts";
import type { Failure } from "../../thread/turn.ts";
import type { Retry } from "./options.ts";

/**
 * Returns when a failed call is retried, in milliseconds since the epoch, or null if it is not. The delay backs off
 * exponentially, with jitter between half and all of it. The jitter is derived from the timer's id, so the same
 * failure waits the same time in every replay. A wait that the server asked for is never shortened.
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

/** After so many doublings every delay exceeds the maximum. */
const doublings = 40;

const fractionOf = (text: string): number => (Number.parseInt(digestOf(text).slice(-6), 36) % 1000) / 1000;
