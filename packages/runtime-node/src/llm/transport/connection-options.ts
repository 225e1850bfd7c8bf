import type { ClientOptions } from "openai";
import { redact } from "@colloquy/host/runtime";

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

type Name = keyof typeof connectionOptions;

/**
 * What is wrong with the options of a connection, in words without any secret, or null. The SDK would find it with the
 * first call, or never: it takes a timeout that is none as a millisecond. Null is none given, as it is to the SDK.
 *
 * @param given The options as they were given: what is not among them came from the environment.
 */
export const problemOfConnection = (
  handler: string,
  connection: ClientOptions,
  given: { readonly [Each in Name]?: unknown },
): string | null => {
  // A table of names has no others.
  for (const name of Object.keys(connectionOptions) as Name[]) {
    const value: unknown = connection[name];
    if (value === undefined || value === null) continue;
    const problem = problems[name](value, connection);
    if (problem === null) continue;
    const variable = given[name] === undefined ? variables[name] : undefined;
    return `${variable ?? `${name} of ${handler}`} ${problem}`;
  }
  return null;
};

/** Where the SDK looks for what is not given. */
const variables: { readonly [Each in Name]?: string } = {
  apiKey: "OPENAI_API_KEY",
  baseURL: "OPENAI_BASE_URL",
  organization: "OPENAI_ORG_ID",
  project: "OPENAI_PROJECT_ID",
};

type Problem = (value: unknown, connection: ClientOptions) => string | null;

const problemOfKey: Problem = (value) => {
  if (typeof value === "function") return null;
  if (typeof value !== "string") return `is of type ${typeof value}; it must be a text, or a function that gives one`;
  return isSendable("authorization", `Bearer ${value}`)
    ? null
    : "has a character that no header can have, such as a line break within it; it must be the key alone";
};

/** Whatever a `fetch` of the caller's own makes of other schemes: Node's knows none. */
const problemOfURL: Problem = (value, connection) => {
  const isURL = typeof value === "string" && (value === "" || URL.canParse(value));
  if (isURL && (value === "" || (connection.fetch ?? fetch) !== fetch || /^https?:$/.test(new URL(value).protocol)))
    return null;
  return `is ${shown(value)}; it must be a URL with http:// or https://, such as "http://127.0.0.1:8080/v1"`;
};

const problemOfName: Problem = (value) =>
  typeof value === "string" && isSendable("openai-project", value)
    ? null
    : `is ${shown(value)}; it must be a text that a header can have`;

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

const problemOfObject: Problem = (value) =>
  typeof value === "object" ? null : `is of type ${typeof value}; it must be an object`;

const problems: { readonly [Each in Name]: Problem } = {
  apiKey: problemOfKey,
  baseURL: problemOfURL,
  organization: problemOfName,
  project: problemOfName,
  defaultHeaders: problemOfHeaders,
  defaultQuery: problemOfObject,
  fetch: (value) => (typeof value === "function" ? null : `is ${shown(value)}; it must be a function such as fetch`),
  fetchOptions: problemOfObject,
  dangerouslyAllowBrowser: (value) =>
    typeof value === "boolean" ? null : `is ${shown(value)}; it must be true or false`,
  timeout: (value) =>
    typeof value === "number" && value > 0 && value <= timeoutMax
      ? null
      : `is ${shown(value)}; it must be a number of milliseconds, from 1 to ${timeoutMax}`,
};

/** Timers of Node go no further. */
const timeoutMax = 2 ** 31 - 1;

const isSendable = (name: string, value: string): boolean => {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
};

/** A text that may have a key within it, as addresses have in places, is shown by its length alone. */
const shown = (value: unknown): string => {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return `of type ${typeof value}`;
  return /[@?#]/.test(value) ? `a text of ${value.length} characters` : redact(JSON.stringify(value));
};
