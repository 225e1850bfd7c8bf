/**
 * How long the server asked to wait before the next attempt, in milliseconds: `retry-after-ms`, else `retry-after`
 * in seconds or as a date, against `now` (milliseconds since the epoch). Undefined when it did not say, or not in
 * a way that can be read.
 */
export const retryAfterMs = (headers: { get(name: string): string | null }, now: number): number | undefined => {
  const milliseconds = numberOf(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return whole(milliseconds);
  const after = headers.get("retry-after");
  const seconds = numberOf(after);
  if (seconds !== undefined) return whole(seconds * 1000);
  const date = after === null ? Number.NaN : Date.parse(after);
  return Number.isNaN(date) ? undefined : whole(Math.max(0, date - now));
};

/** Servers do send fractions; and a wait beyond what can be counted is too long all the same. */
const whole = (milliseconds: number): number => Math.min(Math.ceil(milliseconds), Number.MAX_SAFE_INTEGER);

const numberOf = (header: string | null): number | undefined => {
  if (header === null || header.trim() === "") return undefined;
  const value = Number(header);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
};
