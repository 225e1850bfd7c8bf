import { charactersRead, redact, redactionMark } from "@colloquy/host/runtime";
import type { Failure, Json, JsonObject } from "@colloquy/machine";
import { decoded, defined, isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";

/** The facts of an error, however it is wrapped. */
export interface ErrorFacts {
  /** The HTTP status, or the one that the error object names. */
  readonly status?: number;
  readonly code?: string;
  /** Never empty. */
  readonly message: string;
  /** Codes, types and status names, to search for words. */
  readonly words: string;
  /** How long to wait, in milliseconds, as the error itself says. */
  readonly waitMs?: number;
}

/** Whether a value under `error` is an error: it is not empty. */
export const isError = (value: Json | undefined): value is Json =>
  isObject(value) ? Object.keys(value).length > 0 : isText(value) || listOf(value).length > 0;

/**
 * Whether a body or a chunk without an answer is an error without a wrapper. MiniMax (`base_resp`) and Baidu (`error_code`) send
 * a code other than 0, and status 200.
 */
export const isBareError = (chunk: JsonObject): boolean => {
  const { base_resp: ended, error_code: code } = chunk;
  const given = isObject(ended) ? (ended["status_code"] ?? 0) : code;
  if (given !== undefined) return Number(given ?? 0) !== 0;
  if ("choices" in chunk || "usage" in chunk) return false;
  if (chunk["object"] === "error" || isError(chunk["detail"])) return true;
  // iFLYTEK's Spark begins a stream with { code: 0, message: "Success" }.
  return isText(chunk["message"]) && ("code" in chunk ? Number(chunk["code"] ?? 1) !== 0 : "type" in chunk);
};

/**
 * Reads the errors of servers: `{error: {…}}`, the object itself, a list of one, `{detail}`, `{base_resp: {…}}`, a plain text. The
 * status of an error response counts, except 400: gateways answer it whatever the model's provider said. Else a number counts
 * that the error gives as its status or code.
 */
export const errorFacts = (error: unknown, responseStatus = 0): ErrorFacts => {
  const value = unwrapped(error);
  const object = isObject(value) ? value : {};
  const { code: number, type, status: word, status_code: numbered, innererror: inner } = object;
  const own = [numbered, word, number].map(Number).find((each) => Number.isInteger(each) && each >= 400 && each < 600);
  const status = responseStatus > 400 ? responseStatus : (own ?? (responseStatus === 400 ? 400 : undefined));
  const code = number ?? type;
  const words = [number, type, word, isObject(inner) ? inner["code"] : undefined];
  const isCode = typeof code === "number" || isText(code);
  const unsaid = status
    ? `the server answered with status ${status}`
    : "the server reported an error and did not say which";
  const message = messageIn(value);
  return {
    ...defined({
      status,
      code: isCode ? String(code).slice(0, codeCharacters) : undefined,
      waitMs: waitIn(message, object),
    }),
    message: message || unsaid,
    words: words.map((word) => textOf(word).slice(0, codeCharacters)).join(" "),
  };
};

const unwrapped = (error: unknown): Json => {
  const parsed = typeof error === "string" ? parseJson(withoutFrame(error.trim())) : undefined;
  // A body was parsed from JSON, or is a text.
  const value = (isObject(parsed) ? parsed : error) as Json;
  const [first] = listOf(value);
  if (first !== undefined) return unwrapped(first);
  if (!isObject(value)) return value ?? null;
  const { error: inner, detail, base_resp: ended, error_code: number, error_msg: text } = value;
  if (isObject(ended)) return coded(ended["status_code"], ended["status_msg"]);
  if (number !== undefined) return coded(number, text);
  // The message beside the name of an error says more than the name.
  if (isText(inner)) return isText(value["message"]) ? { ...value, code: value["code"] ?? inner } : inner;
  return isObject(inner) ? inner : isObject(detail) ? unwrapped(detail) : value;
};

/** Returns the data of a body that is an event of a stream, or the beginning of one. A body of comments alone gives an empty text. */
export const withoutFrame = (body: string): string =>
  /^(:|id:|event:|retry:|data:)/.test(body)
    ? body.replaceAll(/^(:|id:|event:|retry:).*$|^data:( ?\[DONE\])?/gm, "").trim()
    : body;

const coded = (code: Json | undefined, message: Json | undefined): JsonObject => ({
  code,
  type: wordsOfCodes.get(Number(code)),
  message,
});

/**
 * The codes of MiniMax (https://platform.minimax.io/docs/api-reference/errorcode) and Baidu
 * (https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh) in the words of other servers. All others may be tried again.
 */
const wordsOfCodes: ReadonlyMap<number, string> = new Map(
  Object.entries({
    timeout: [1001],
    unavailable: [2],
    rate_limit: [4, 18, 1002, 1039, 1041, 2045, 336501, 336502, 336503],
    insufficient_quota: [17, 19, 1008, 2056],
    authentication_error: [6, 13, 14, 100, 110, 111, 1004, 2049, 336004],
    content_filter: [1026, 1027],
    context_length: [336007, 336103, 336104],
    invalid_request: [3, 1042, 1043, 2013, 336001, 336002, 336003, 336005, 336006],
  }).flatMap(([word, codes]) => codes.map((code) => [code, word] as const)),
);

/** No code of a server is longer. */
const codeCharacters = 200;

/** A gateway's own message says little, so the message of the model's provider follows it. */
const messageIn = (error: Json): string => {
  if (!isObject(error)) return isText(error) ? plainText(error) : "";
  const { message, msg, detail, metadata } = error;
  const own = [message, msg, detailOf(detail), JSON.stringify(error)].map(textOf).find(isText);
  const raw = textOf(isObject(metadata) ? metadata["raw"] : undefined);
  const upstream = raw && (messageIn(unwrapped(raw)) || raw);
  return [own, upstream].filter(Boolean).join(": ").slice(0, charactersRead);
};

/** FastAPI lists what is wrong with a request, each with its place. */
const detailOf = (detail: Json | undefined): string => {
  const issues = listOf(detail).map((issue) => {
    if (!isObject(issue)) return textOf(issue);
    const place = listOf(issue["loc"]).filter((key) => typeof key === "string" || typeof key === "number");
    return [place.join("."), textOf(issue["msg"])].filter(Boolean).join(": ");
  });
  return textOf(detail) || issues.filter(Boolean).join("; ");
};

/** Returns the text of a page without its tags. */
const plainText = (text: string): string =>
  text
    .slice(0, charactersRead)
    .replaceAll(/<(script|style)[^>]*>[\s\S]*?<\/\1>|<[^>]*>/gi, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * Returns the failure of a redirect: keys, headers and the whole prompt were meant for one host, and are sent to no other. It
 * names the target by host and path, without query and without anything in the path that may be a secret.
 */
export const redirectFailure = (
  status: number,
  location: string | null,
  { baseURL, secrets = [] }: { readonly baseURL?: string; readonly secrets?: readonly string[] },
): Failure => {
  const url = location === null ? null : URL.parse(location, baseURL);
  const where = url === null ? "and does not say where to" : `to ${targetOf(url, secrets)}`;
  const message = `the server redirects (${status}) ${where}; redirects are not followed, lest key and prompt reach another host: check the base URL`;
  return { kind: "unknown", retryable: false, message, status };
};

const targetOf = ({ protocol, host, pathname }: URL, secrets: readonly string[]): string => {
  const path = pathname.split("/").map((segment) => {
    const text = redact(decoded(segment), secrets);
    return /^(?=.*\d)(?=.*[A-Za-z])[\w.~+=-]{32,}$/.test(text) ? redactionMark : text;
  });
  return redact(`${protocol}//${host}${path.join("/")}`, secrets).slice(0, 300);
};

/**
 * Returns the milliseconds that the server asked to wait: `retry-after-ms`, else `retry-after` in seconds, with units or as a date,
 * against `now` (milliseconds since the epoch). Undefined if it did not say, or not in a way that can be read.
 */
export const retryAfterMs = (headers: { get(name: string): string | null }, now: number): number | undefined => {
  const after = headers.get("retry-after") ?? "";
  const seconds = numberOf(after);
  const given = numberOf(headers.get("retry-after-ms")) ?? (seconds === undefined ? durationOf(after) : seconds * 1000);
  const wait = given ?? Math.max(0, Date.parse(after) - now);
  return Number.isNaN(wait) ? undefined : wholeMs(wait);
};

/** Servers send fractions, and waits beyond any number. */
const wholeMs = (wait: number): number => Math.min(Math.ceil(wait), Number.MAX_SAFE_INTEGER);

const numberOf = (header: string | null): number | undefined => {
  const value = header?.trim() ? Number(header) : Number.NaN;
  return Number.isFinite(value) && value >= 0 ? value : undefined;
};

/**
 * Returns the milliseconds to wait that the text of an error names (OpenAI, Groq: "Please try again in 1m12.3s."; Azure: "Please retry
 * after 20 seconds."; Gemini: "Please retry in 22.5s.") or among its details (`retryDelay` of Google's RetryInfo).
 */
const waitIn = (message: string, { details }: JsonObject): number | undefined => {
  const [, words = ""] = /\b(?:try again|retry|wait)(?: in| after| for)? (?=\d)([\d.a-z ]{1,60})/i.exec(message) ?? [];
  const delays = listOf(details).map((detail) => (isObject(detail) ? textOf(detail["retryDelay"]) : ""));
  return [words, ...delays].map(durationOf).find((wait) => wait !== undefined);
};

/** Returns the milliseconds of a time such as `1m12.3s`, with which the text begins. */
const durationOf = (text: string): number | undefined => {
  const [times = ""] =
    /^(?:\s*\d+(?:\.\d+)?\s*(?:ms|millis\w*|[hms]|(?:hour|min|sec)[a-z]*)(?![a-z]))+/i.exec(text) ?? [];
  const parts = Array.from(times.matchAll(/([\d.]+)\s*([a-z]+)/gi), ([, amount, unit = ""]) => {
    const name = /^(ms|milli)/i.test(unit) ? "ms" : unit.charAt(0).toLowerCase();
    return Number(amount) * (unitMs[name] ?? Number.NaN);
  });
  if (parts.length === 0) return undefined;
  return wholeMs(parts.reduce((sum, each) => sum + each));
};

const unitMs: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
