import type { Json } from "@colloquy/machine";
import type { ExchangeResponse, RecordedError } from "@colloquy/runtime-test/recordings";
import { isObject } from "./report.ts";
import { type Meaning, meaningOf, type Verdict } from "./error-words.ts";

/** The meaning of an error response by the docs of the protocol and the providers, found without the product's code. */
export interface ErrorReading {
  /** The verdicts that the meaning allows; null if the response shows none, which needs a status below 400. */
  readonly verdicts: readonly Verdict[] | null;
  /** The wait that the server asks for: milliseconds, `"until"` a date, or null. */
  readonly wait: number | "until" | null;
  /** A contradiction between its parts, so that it cannot be the original response; null if there is none. */
  readonly contradiction: string | null;
  /** The basis of the verdict. */
  readonly by: "words" | "status" | "nothing";
}

/** Reads an error by its status, its texts and its headers. */
export const readError = ({ host, response }: RecordedError): ErrorReading => {
  const { status } = response;
  const error = errorIn(response);
  const meaning = error === null ? null : meaningOf(wordsOf(error));
  const message = error === null ? "" : messageOf(error);
  const contradiction =
    bodyProblem(response, error, message) ??
    (error === null ? null : (hostProblem(host ?? "", response, error) ?? codeProblem(status, error))) ??
    (meaning === null
      ? silenceProblem(host ?? "", status, message)
      : meaningProblem(host ?? "", status, meaning, message));
  // Only with an error status do headers refer to a retry.
  const speaks = status >= 400;
  const verdicts = verdictsOf(status, error, meaning, message, speaks ? adviceOf(response) : null);
  return {
    verdicts,
    wait: speaks ? waitOf(response) : null,
    contradiction,
    by: meaning !== null ? "words" : verdicts !== null ? "status" : "nothing",
  };
};

const verdictsOf = (
  status: number,
  error: Json | null,
  meaning: Meaning | null,
  message: string,
  advice: boolean | null,
): readonly Verdict[] | null => {
  const effective = status >= 400 ? status : error === null ? 0 : (statusIn(error) ?? 0);
  const byStatus = effective >= 400 ? verdictOfStatus(effective) : null;
  const byMeaning = meaning === null || (meaning.yields && byStatus !== null) ? null : meaning.verdict;
  const first = byMeaning ?? byStatus;
  if (first === null) return null;
  const also = meaning?.verdict.kind === "timeout" && byStatus !== null ? [byStatus] : [];
  const all = [
    first,
    ...also,
    ...alternatives.flatMap(([pattern, verdict]) => (pattern.test(message) ? [verdict] : [])),
  ];
  const waiting = isTooLarge(message) ? all.map((verdict) => ({ ...verdict, retryable: false })) : all;
  const advised = advice === null ? waiting : waiting.map((verdict) => ({ ...verdict, retryable: advice }));
  return advised.filter(
    ({ kind, retryable }, index) =>
      advised.findIndex((other) => other.kind === kind && other.retryable === retryable) === index,
  );
};

/**
 * Returns the meaning of a status, by RFC 9110, RFC 6585, and the gateways with statuses of their own (498, 524, 529).
 */
const verdictOfStatus = (status: number): Verdict => {
  const kind = kindsOfStatus[status];
  if (kind !== undefined) return kind;
  return status >= 500 ? { kind: "unknown", retryable: true } : { kind: "bad_request", retryable: false };
};

const kindsOfStatus: Readonly<Record<number, Verdict>> = {
  401: { kind: "auth", retryable: false },
  402: { kind: "rate_limit", retryable: false },
  403: { kind: "auth", retryable: false },
  408: { kind: "timeout", retryable: true },
  409: { kind: "unknown", retryable: true },
  425: { kind: "unknown", retryable: true },
  429: { kind: "rate_limit", retryable: true },
  498: { kind: "overloaded", retryable: true },
  503: { kind: "overloaded", retryable: true },
  504: { kind: "timeout", retryable: true },
  524: { kind: "timeout", retryable: true },
  529: { kind: "overloaded", retryable: true },
};

/** Sentences of servers without codes. A sentence may have another meaning, so it only allows a verdict. */
const alternatives: readonly (readonly [RegExp, Verdict])[] = [
  [/context|too long|maximum .*length|token/i, { kind: "context_length", retryable: false }],
  [/polic(y|ies)|filter|flagged|moderation/i, { kind: "content_filter", retryable: false }],
  [/overloaded/i, { kind: "overloaded", retryable: true }],
  [/quota|billing|credit|balance/i, { kind: "rate_limit", retryable: false }],
];

/** Checks that one request exceeds the limit of a whole minute, so that waiting does not help. */
const isTooLarge = (message: string): boolean => {
  const [, limit, requested] = /limit:? *([\d,]+).*requested:? *([\d,]+)/i.exec(message) ?? [];
  return /request too large/i.test(message) || numberIn(requested) > numberIn(limit);
};

const numberIn = (digits: string | undefined): number => Number(digits?.replaceAll(",", "") ?? 0);

const adviceOf = (response: ExchangeResponse): boolean | null => {
  const advice = headerOf(response, "x-should-retry");
  return advice === "true" ? true : advice === "false" ? false : null;
};

const waitOf = (response: ExchangeResponse): ErrorReading["wait"] => {
  const exact = headerOf(response, "retry-after-ms");
  if (exact !== null && isNumber(exact)) return Math.ceil(Number(exact));
  const after = headerOf(response, "retry-after");
  if (after === null) return null;
  if (isNumber(after)) return Math.ceil(Number(after) * 1000);
  return Number.isNaN(Date.parse(after)) ? null : "until";
};

const isNumber = (text: string): boolean => /^\d+(\.\d+)?$/.test(text.trim());

const headerOf = ({ headers }: ExchangeResponse, name: string): string | null =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? null;

/** Returns the error of a body: its `error`, or in a stream that of the event with one; else the body itself. */
const errorIn = ({ body, sse }: ExchangeResponse): Json | null => {
  if (sse !== undefined) return errorInEvents(sse);
  // A JSON list has JSON items.
  const value = Array.isArray(body) ? (body as readonly Json[])[0] : body;
  if (value === undefined || value === null || value === "") return null;
  return memberOf(value, "error") ?? value;
};

const errorInEvents = (sse: string): Json | null => {
  for (const line of sse.split(/\r?\n/)) {
    const error = memberOf(jsonIn(line.replace(/^data: ?/, "")) ?? null, "error");
    if (error !== null) return error;
  }
  return null;
};

const jsonIn = (text: string): Json | undefined => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const wordsOf = (error: Json): readonly string[] =>
  [
    memberOf(error, "code"),
    memberOf(error, "type"),
    memberOf(error, "status"),
    memberOf(memberOf(error, "innererror"), "code"),
  ].filter((word) => typeof word === "string");

const statusIn = (error: Json): number | undefined =>
  [memberOf(error, "code"), memberOf(error, "status"), memberOf(error, "status_code")]
    .map((value) => (typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value))
    .filter((value) => typeof value === "number")
    .find((value) => value >= 400 && value < 600);

/** Returns the sentence of an error, under any of its names. */
const messageOf = (error: Json): string => {
  if (typeof error === "string") return error;
  const own = ["message", "detail", "msg", "errors"]
    .map((name) => memberOf(error, name))
    .filter((value) => value !== null);
  const said =
    own.length > 0 || !isObject(error) ? own : Object.values(error).filter((value) => typeof value === "string");
  return said
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ")
    .trim();
};

/** Returns a problem if an error has no text, or not the form that its headers announce. */
const bodyProblem = (response: ExchangeResponse, error: Json | null, message: string): string | null => {
  const { status, body, sse } = response;
  if (status >= 100 && status < 400 && error === null)
    return `status ${status} is not an error's, and the body has no error`;
  if (status >= 600 || status < 100) return `there is no status ${status}`;
  const after = headerOf(response, "retry-after");
  if (status >= 400 && after !== null && waitOf(response) === null)
    return `retry-after is ${JSON.stringify(after)}, which is not a time`;
  if (sse !== undefined || error === null) return null;
  if (typeof body === "string")
    return /json/i.test(headerOf(response, "content-type") ?? "")
      ? "its header announces JSON, but its body is not JSON"
      : null;
  return message === "" ? "its body has no message" : null;
};

/** Returns how an error differs from the documentation of its server, or null. */
const hostProblem = (host: string, { status, body }: ExchangeResponse, error: Json): string | null => {
  if (
    status < 400 &&
    /(^|\.)(api\.openai|azure)\.com$/.test(host) &&
    isObject(body ?? null) &&
    Object.keys(body ?? {}).join() === "error" &&
    statusIn(error) === undefined
  )
    return `${host} does not answer with status ${status} and an error alone that names no status`;
  const code = memberOf(error, "code");
  const type = memberOf(error, "type");
  if (/(^|\.)api\.openai\.com$/.test(host)) {
    const missing = ["message", "type", "param", "code"].filter((name) => !isMember(error, name));
    if (missing.length > 0) return `an error of ${host} has no ${missing.join(" and no ")}`;
    if (typeof type !== "string" || !/(_error|_forbidden|_quota)$|^(tokens|requests)$|^cf_/.test(type))
      return `${JSON.stringify(type)} is not an error type of ${host}`;
  }
  if (host.endsWith(".azure.com") && typeof code !== "string" && typeof type !== "string")
    return `an error of ${host} has neither code nor type`;
  if (/(^|\.)openrouter\.ai$/.test(host) && typeof code !== "number") return `an error of ${host} has no numeric code`;
  return null;
};

/** Returns a problem if OpenAI does not say why a request failed or must wait. A gateway in front may send no text. */
const silenceProblem = (host: string, status: number, message: string): string | null => {
  const [, expected] = reasons.find(([isIt]) => isIt(status)) ?? [];
  return message === "" || expected === undefined || !/(^|\.)api\.openai\.com$/.test(host) || expected.test(message)
    ? null
    : `nothing in its body is about status ${status}`;
};

const reasons: readonly (readonly [(status: number) => boolean, RegExp])[] = [
  [(status) => status === 401, /key|auth|token|credential|organization|project|header/i],
  [(status) => status === 403, /permission|access|allowed|country|region|territory|organization|project|verif|forbid/i],
  [(status) => status === 404, /exist|found|url|model|endpoint|deploy|no such|deprecat/i],
  [
    (status) => [408, 409, 413, 415].includes(status),
    /time|conflict|lock|large|size|limit|media|content-type|content type/i,
  ],
  [(status) => status === 429, /rate|quota|limit|capacity|too many|overload|requests/i],
  [(status) => status >= 500, /server|overload|internal|time|gateway|unavailable|occurred|try again|connect/i],
];

const codeProblem = (status: number, error: Json): string | null => {
  const own = statusIn(error);
  return status < 400 || own === undefined || own === status
    ? null
    : `its status is ${status}, and its body says ${own}`;
};

const meaningProblem = (
  host: string,
  status: number,
  { word, statuses, unless, about }: Meaning,
  message: string,
): string | null => {
  if (about !== undefined && message !== "" && /(^|\.)(api\.openai|azure)\.com$/.test(host) && !about.test(message))
    return `its message is not about ${JSON.stringify(word)}`;
  if (status < 400 || statuses(status)) return null;
  return unless?.(status, message) === true ? null : `status ${status} does not go with ${JSON.stringify(word)}`;
};

const isMember = (value: Json, name: string): boolean => isObject(value) && Object.hasOwn(value, name);

const memberOf = (value: Json, name: string): Json => (isObject(value) ? (value[name] ?? null) : null);
