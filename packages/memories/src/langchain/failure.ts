import type { Failure, FailureKind } from "@colloquy/machine";

/** The call was cancelled. */
export const aborted: Failure = { kind: "unknown", message: "the call was aborted", retryable: false, code: "aborted" };

/** Nothing came for longer than was allowed. */
export const idle = (idleMs: number): Failure => ({
  kind: "timeout",
  message: `the model was silent for more than ${idleMs} ms`,
  retryable: true,
});

/**
 * The failure that something is which a model of LangChain threw: by the name that LangChain gives it, else by the HTTP status that
 * the client of its provider left on it, else by what connections fail with. 429 is retryable unless money ran out.
 */
export const failureOf = (thrown: unknown, now: number): Failure => {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const status = [
    member(thrown, "status"),
    member(thrown, "statusCode"),
    member(member(thrown, "response"), "status"),
  ].find((value) => typeof value === "number");
  const code = member(thrown, "code") ?? member(thrown, "lc_error_code");
  const wait = retryAfter(member(thrown, "headers") ?? member(member(thrown, "response"), "headers"), now);
  const [kind, retryable] = kindOf(`${String(member(thrown, "name"))} ${String(code)} ${message}`, status);
  return {
    kind,
    message,
    retryable,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(status === undefined ? {} : { status }),
    ...(typeof code === "string" ? { code } : {}),
  };
};

const kindOf = (words: string, status: number | undefined): readonly [FailureKind, boolean] => {
  if (/ContextOverflow|CONTEXT_OVERFLOW|context.{0,9}(length|window)|prompt is too long/i.test(words))
    return ["context_length", false];
  if (/content.?filter|ModelRefusalError/i.test(words)) return ["content_filter", false];
  if (/insufficient_quota|\bbilling\b/i.test(words)) return ["rate_limit", false];
  const byStatus = status === undefined ? undefined : statuses.find(([pattern]) => pattern.test(String(status)));
  if (byStatus !== undefined) return [byStatus[1], byStatus[2]];
  if (/^(TimeoutError|APIConnectionTimeoutError)|ETIMEDOUT/.test(words)) return ["timeout", true];
  if (/^APIConnectionError|fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|socket hang up/.test(words))
    return ["network", true];
  if (/MODEL_AUTHENTICATION|api key/i.test(words)) return ["auth", false];
  if (words.includes("MODEL_RATE_LIMIT")) return ["rate_limit", true];
  return ["unknown", false];
};

const statuses: readonly (readonly [RegExp, FailureKind, boolean])[] = [
  [/^(401|403)$/, "auth", false],
  [/^402$/, "rate_limit", false],
  [/^(408|504|524)$/, "timeout", true],
  [/^429$/, "rate_limit", true],
  [/^(498|503|529)$/, "overloaded", true],
  [/^(409|425|5\d\d)$/, "unknown", true],
  [/^4\d\d$/, "bad_request", false],
];

/** Clients keep headers as `Headers`, or as an object. */
const retryAfter = (headers: unknown, now: number): number | undefined => {
  const get = member(headers, "get");
  const given: unknown = typeof get === "function" ? get.call(headers, "retry-after") : member(headers, "retry-after");
  if (typeof given !== "string" || given.trim() === "") return undefined;
  const ms = Number.isNaN(Number(given)) ? Date.parse(given) - now : Number(given) * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms));
};

/** A member of what may be anything. */
const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
