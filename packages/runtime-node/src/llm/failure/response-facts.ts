import { charactersRead, redact, redactionMark } from "@colloquy/host/runtime";
import type { Failure, Json, JsonObject } from "@colloquy/machine";
import { isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";

/** What an error says of itself, however it is wrapped. */
export interface ErrorFacts {
  /** The HTTP status, or the one that the error object names. */
  readonly status?: number;
  readonly code?: string;
  /** For a person to read. Never empty. */
  readonly message: string;
  /** Codes, types and status names, to look for words in. */
  readonly words: string;
}

/** Whether a value under `error` is one: it is not empty. */
export const isError = (value: Json | undefined): value is Json =>
  isObject(value) ? Object.keys(value).length > 0 : isText(value) || listOf(value).length > 0;

/**
 * Whether a body or a chunk is an error without a wrapper: it answers nothing, and says what went wrong. MiniMax (`base_resp`)
 * and Baidu (`error_code`) send a code other than 0, and status 200.
 */
export const isBareError = (chunk: JsonObject): boolean => {
  const { base_resp: ended, error_code: code } = chunk;
  if (isObject(ended) || code !== undefined) return Number((isObject(ended) ? ended["status_code"] : code) ?? 0) !== 0;
  if ("choices" in chunk || "usage" in chunk) return false;
  if (chunk["object"] === "error" || isError(chunk["detail"])) return true;
  return isText(chunk["message"]) && ("code" in chunk || "type" in chunk);
};

/**
 * Reads what servers send: `{error: {…}}`, the object itself, a list of one, `{detail}`, `{base_resp: {…}}`, a plain text. The
 * status of the response counts if it is an error. A number that the error gives as its status or code counts for any other response, and
 * for 400: gateways answer 400 whatever the model's provider said.
 */
export const errorFacts = (error: unknown, responseStatus = 0): ErrorFacts => {
  const value = unwrapped(error);
  const object = isObject(value) ? value : {};
  const status =
    responseStatus > 400 ? responseStatus : (statusOf(object) ?? (responseStatus === 400 ? 400 : undefined));
  const code = codeIn(object);
  const inner = object["innererror"];
  const words = [object["code"], object["type"], object["status"], isObject(inner) ? inner["code"] : undefined];
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    message:
      messageIn(value) ||
      (status === undefined
        ? "the server reported an error and did not say which"
        : `the server answered with status ${status}`),
    words: words.map((word) => textOf(word).slice(0, codeCharacters)).join(" "),
  };
};

// A body was parsed from JSON, or is a text.
const unwrapped = (error: unknown): Json => {
  const parsed = typeof error === "string" ? parseJson(error) : undefined;
  const value = (isObject(parsed) ? parsed : error) as Json;
  const [first] = listOf(value);
  if (first !== undefined) return unwrapped(first);
  if (!isObject(value)) return value ?? null;
  const { error: inner, detail, base_resp: ended, error_code: number, error_msg: text } = value;
  if (isObject(ended)) return coded(ended["status_code"], ended["status_msg"]);
  if (number !== undefined) return coded(number, text);
  // What is beside the name of an error says more than the name.
  if (isText(inner)) return isText(value["message"]) ? { ...value, code: value["code"] ?? inner } : inner;
  return isObject(inner) ? inner : isObject(detail) ? unwrapped(detail) : value;
};

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

/** The longest code that is one. */
const codeCharacters = 200;

const statusOf = (error: JsonObject): number | undefined =>
  [error["status_code"], error["status"], error["code"]]
    .map(Number)
    .find((status) => Number.isInteger(status) && status >= 400 && status < 600);

const codeIn = (error: JsonObject): string | undefined => {
  const code = error["code"] ?? error["type"];
  if (typeof code === "number") return String(code);
  return isText(code) ? code.slice(0, codeCharacters) : undefined;
};

/** A gateway's own message says little; what it got from the model's provider stands behind it. */
const messageIn = (error: Json): string => {
  if (!isObject(error)) return isText(error) ? plainText(error) : "";
  const { message, msg, detail, metadata } = error;
  const own = [message, msg, detailOf(detail), JSON.stringify(error)].map(textOf).find(isText) ?? "";
  const raw = isObject(metadata) ? metadata["raw"] : undefined;
  const upstream = isText(raw) ? messageIn(unwrapped(raw)) || raw : "";
  return (upstream === "" ? own : `${own}: ${upstream}`).slice(0, charactersRead);
};

/** FastAPI says what is wrong with a request as a list, each with the place where it is. */
const detailOf = (detail: Json | undefined): string =>
  textOf(detail) ||
  listOf(detail)
    .map((issue) => (isObject(issue) ? issueInWords(issue) : textOf(issue)))
    .filter((words) => words !== "")
    .join("; ");

const issueInWords = ({ loc, msg }: JsonObject): string => {
  const place = listOf(loc).filter((key) => typeof key === "string" || typeof key === "number");
  return [place.join("."), textOf(msg)].filter((words) => words !== "").join(": ");
};

/** A page's text, as far as it can be had without its marks. */
const plainText = (text: string): string =>
  text
    .slice(0, charactersRead)
    .replaceAll(/<(script|style)[^>]*>[\s\S]*?<\/\1>/gi, " ")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * The failure that a redirect is: keys, headers and the whole prompt were meant for one host, and are sent to no
 * other. It names the target by host and path, without query and whatever in the path may be a secret.
 */
export const redirectFailure = (
  status: number,
  location: string | null,
  { baseURL, secrets = [] }: { readonly baseURL?: string; readonly secrets?: readonly string[] },
): Failure => {
  const target = location === null ? null : targetOf(location, baseURL, secrets);
  const where = target === null ? `(${status}) and does not say where to` : `(${status}) to ${target}`;
  return {
    kind: "unknown",
    retryable: false,
    message: `the server redirects ${where}; redirects are not followed, lest key and prompt reach another host: check the base URL`,
    status,
  };
};

/** Null for a location that can't be read. */
const targetOf = (location: string, baseURL: string | undefined, secrets: readonly string[]): string | null => {
  const url = URL.parse(location, baseURL);
  if (url === null) return null;
  const path = url.pathname.split("/").map((segment) => segmentOf(segment, secrets));
  const target = redact(`${url.protocol}//${url.host}${path.join("/")}`, secrets);
  return target.length > targetLength ? `${target.slice(0, targetLength)}…` : target;
};

const segmentOf = (segment: string, secrets: readonly string[]): string => {
  const text = redact(decoded(segment), secrets);
  return /^(?=.*\d)(?=.*[A-Za-z])[\w.~+=-]{32,}$/.test(text) ? redactionMark : text;
};

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

const targetLength = 300;

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
