import { redact } from "@colloquy/host/runtime";
import type { OptionNames } from "@colloquy/host/store";
import type { ClientOptions } from "openai";
import { isObject } from "../json/loose-json.ts";
import { common } from "../wire/dialect.ts";
import { dialects } from "../wire/dialects.ts";

/** How long an answer is waited for. */
export interface WaitOptions {
  /**
   * The longest silence within an answer that has begun, in milliseconds, where the call's own `idleTimeoutMs` does not say.
   * Default 5 minutes; null for none. Comments, pings and empty pieces do not end the silence.
   */
  readonly idleTimeoutMs?: number | null;
  /**
   * How long to wait for the end of a stream, and for its report of usage, after the answer said why it ended, in
   * milliseconds. Default 2 seconds; null for no limit.
   */
  readonly endTimeoutMs?: number | null;
}

/** The same, with defaults. */
export interface Waits {
  readonly idleMs: number | undefined;
  readonly endMs: number | undefined;
}

export const waitOptions: OptionNames<WaitOptions> = { idleTimeoutMs: true, endTimeoutMs: true };

export const waitsOf = ({ idleTimeoutMs = 300_000, endTimeoutMs = 2000 }: WaitOptions): Waits => ({
  idleMs: idleTimeoutMs ?? undefined,
  endMs: endTimeoutMs ?? undefined,
});

/** The options of the SDK's client that a handler takes. */
export const connectionOptions = {
  apiKey: true,
  baseURL: true,
  organization: true,
  project: true,
  defaultHeaders: true,
  defaultQuery: true,
  fetch: true,
  fetchOptions: true,
  timeout: true,
  dangerouslyAllowBrowser: true,
} as const;

/**
 * Returns what is wrong with the options of a handler, in words without any secret, or null. The SDK would find it with the
 * first call, or never: it takes a timeout that is none as a millisecond. Null is none given, as it is to the SDK.
 *
 * @param environment Options that come from environment variables, where they are not given.
 */
export const problemOfValues = (handler: string, given: object, environment: object = {}): string | null => {
  const own = Object.entries<unknown>({ ...given }).filter(([, value]) => value !== undefined);
  const all: Readonly<Record<string, unknown>> = { ...environment, ...Object.fromEntries(own) };
  for (const [name, value] of Object.entries(all)) {
    const problem = value === null && name in connectionOptions ? null : (problems[name]?.(value, all) ?? null);
    if (problem === null) continue;
    const variable = own.some(([each]) => each === name) ? undefined : variables[name];
    return `${variable ?? `${name} of ${handler}`} ${problem}`;
  }
  return null;
};

/** Where the SDK looks for what is not given. */
const variables: Readonly<Record<string, string>> = {
  apiKey: "OPENAI_API_KEY",
  baseURL: "OPENAI_BASE_URL",
  organization: "OPENAI_ORG_ID",
  project: "OPENAI_PROJECT_ID",
};

type Problem = (value: unknown, options: Pick<ClientOptions, "fetch">) => string | null;

const must =
  (takes: string, fits: (...given: Parameters<Problem>) => boolean): Problem =>
  (value, options) =>
    fits(value, options) ? null : `is ${shown(value)}; it must be ${takes}`;

const problemOfKey: Problem = (value) => {
  if (typeof value === "function") return null;
  if (typeof value !== "string") return `is of type ${typeof value}; it must be a text, or a function that gives one`;
  return isSendable("authorization", `Bearer ${value}`)
    ? null
    : "has a character that no header can have, such as a line break within it; it must be the key alone";
};

/** Headers are an object or a list of pairs here; a `Headers` has taken none that can't be sent. Values are never shown. */
const problemOfHeaders: Problem = (value) => {
  if (typeof value !== "object" || value === null) return `is of type ${typeof value}; it must be an object of headers`;
  for (const row of isList(value) ? value : Object.entries(value)) {
    const [name, ...contents] = isList(row) ? row.flat() : [];
    if (typeof name !== "string")
      return `has an element of type ${typeof row} in place of a name and a value; it must be an object of headers`;
    const isWrong = ["", ...contents].some((each) => typeof each === "string" && !isSendable(name, each));
    if (isWrong) return `has a member ${shown(name)} that can't be sent; mend its name or its value`;
  }
  return null;
};

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const problemOfDialect: Problem = (given) => {
  if (typeof given === "string")
    return Object.hasOwn(dialects, given)
      ? null
      : `must be one of ${Object.keys(dialects).join(", ")} (got ${JSON.stringify(given)})`;
  if (!isObject(given)) return `must be the name of a dialect, or a dialect (got a value of type ${typeof given})`;
  const missing = Object.keys(common).find((member) => given[member] === undefined);
  if (missing !== undefined)
    return `has no "${missing}"; begin with one that exists: { ...dialects.common, name: "ours" }`;
  const other = Object.keys(given).find((member) => !Object.hasOwn(common, member));
  if (other !== undefined) return `has a "${other}", which no dialect has; leave it out`;
  return patterns.map((member) => problemOfPattern(member, given[member])).find((problem) => problem !== null) ?? null;
};

const patterns = ["callIds", "toolNames", "messageNames"] as const;

const problemOfPattern = (member: string, pattern: unknown): string | null => {
  if (pattern === null && member === "messageNames") return null;
  try {
    if (typeof pattern === "string" && new RegExp(pattern, "u") instanceof RegExp) return null;
  } catch {
    // Said below.
  }
  return `has a "${member}" that is not a regular expression (got ${JSON.stringify(pattern)})`;
};

/** Whatever a `fetch` of the caller's own makes of other schemes: Node's knows none. */
const url = must(
  'a URL with http:// or https://, such as "http://127.0.0.1:8080/v1"',
  (value, options) =>
    value === "" ||
    (typeof value === "string" &&
      URL.canParse(value) &&
      ((options.fetch ?? fetch) !== fetch || /^https?:$/.test(new URL(value).protocol))),
);
const named = must("a text that a header can have", (value) => typeof value === "string" && isSendable("a", value));
const object: Problem = (value) =>
  typeof value === "object" ? null : `is of type ${typeof value}; it must be an object`;
const flag = must("true or false", (value) => typeof value === "boolean");
const wait = must(
  "a whole number of milliseconds above 0, or null for no limit",
  (value) => value === null || isWhole(value, 1),
);

/** Timers of Node go no further. */
const timeoutMax = 2 ** 31 - 1;

const problems: Readonly<Record<string, Problem>> = {
  apiKey: problemOfKey,
  baseURL: url,
  organization: named,
  project: named,
  defaultHeaders: problemOfHeaders,
  defaultQuery: object,
  fetch: must("a function such as fetch", (value) => typeof value === "function"),
  fetchOptions: object,
  dangerouslyAllowBrowser: flag,
  timeout: must(
    `a number of milliseconds, from 1 to ${timeoutMax}`,
    (value) => typeof value === "number" && value > 0 && value <= timeoutMax,
  ),
  idleTimeoutMs: wait,
  endTimeoutMs: wait,
  stream: flag,
  includeUsage: flag,
  writtenBytes: must("a whole number of bytes, 0 or more", (value) => isWhole(value, 0)),
  dialect: problemOfDialect,
};

const isWhole = (value: unknown, least: number): boolean => Number.isSafeInteger(value) && Number(value) >= least;

const isSendable = (name: string, value: string): boolean => {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
};

/** A text that may have a key within it, as addresses have in places, is shown by its length alone. */
const shown = (value: unknown): string => {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (typeof value !== "string") return `of type ${typeof value}`;
  return /[@?#]/.test(value) ? `a text of ${value.length} characters` : redact(JSON.stringify(value));
};
