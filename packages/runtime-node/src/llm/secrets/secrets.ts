import type OpenAI from "openai";
import type { ClientOptions } from "openai";
import { redact } from "@colloquy/host/runtime";

/**
 * Texts that go with each request and must not stand in an error: keys, and the values of headers and query, where other
 * providers take keys.
 */
export const secretsIn = (sent: readonly Sent[]): readonly string[] =>
  sent.flatMap(({ value }) => partsOf(value).flatMap((part) => [part, encodeURIComponent(part.toWellFormed())]));

/**
 * Those of them that are keys beyond doubt, and must not stand in a reply either: the client's keys, what a header or
 * a parameter has that is named like one, and what looks like a key itself. Not the words that local servers take in
 * place of a key ("not-needed"), which may stand in any reply.
 */
export const keysIn = (sent: readonly Sent[]): readonly string[] =>
  sent.flatMap(({ name, value }) => {
    const isKey = name === null || wordsOf(name).some((word) => namesOfKeys.test(word));
    return partsOf(value).filter((part) => !isPlaceholder(part) && (isKey || redact(part) !== part));
  });

/** `x-design-version` is no signature, and `X-Authority` no authorization. */
const namesOfKeys =
  /(?:keys?|tokens?|secrets?|passwords?|passwd|credentials?|cookies?)$|^(?:o?auth|authorization|authentication|sig|signature|code)$/i;

/** Names are written in words: `x-api-key`, `apiKey`, `access_token`. */
const wordsOf = (name: string): readonly string[] => name.replaceAll(/([a-z])([A-Z])/g, "$1-$2").split(/[-_. ]+/);

/**
 * Refuses a base URL with a user name or a password: `fetch` refuses each request to it, with the whole URL in the
 * message.
 *
 * @param handler Whose it is, for the error.
 * @throws TypeError
 */
export const refuseCredentials = (handler: string, baseURL: string): void => {
  if (!URL.canParse(baseURL)) return;
  const { username, password, host } = new URL(baseURL);
  if (username === "" && password === "") return;
  throw new TypeError(
    `${handler}: the base URL of ${host} holds a user name or a password; send them as a header, by defaultHeaders`,
  );
};

/** A header or parameter that goes with each request. */
export interface Sent {
  /** Null for a key of the client itself. */
  readonly name: string | null;
  readonly value: string;
}

/** Returns what a client of the SDK sends with each request, or one that is not made yet, by its options. */
export const sentBy = (client: OpenAI | ClientOptions): readonly Sent[] => {
  const { apiKey, adminAPIKey } = client;
  // Protected in the SDK's types; there is no other way to what a ready-made client was given.
  const { defaultHeaders, defaultQuery } = isMade(client) ? client["_options"] : client;
  const keys = [apiKey, adminAPIKey].map((value): [null, unknown] => [null, value]);
  return [...keys, ...membersOf(defaultHeaders), ...membersOf(defaultQuery)].flatMap(([name, given]) =>
    [given].flat().flatMap((value) => (typeof value === "string" ? [{ name, value }] : [])),
  );
};

const isMade = (client: OpenAI | ClientOptions): client is OpenAI => "_options" in client;

const membersOf = (given: unknown): readonly (readonly [string, unknown])[] => {
  if (given instanceof Headers) return [...given.entries()];
  if (typeof given !== "object" || given === null) return [];
  if (Array.isArray(given)) return given.flatMap((member: unknown) => (isPair(member) ? [member] : []));
  // The SDK keeps headers so when some come from its environment variable.
  if ("values" in given && given.values instanceof Headers) return [...given.values.entries()];
  return Object.entries(given);
};

const isPair = (member: unknown): member is [string, unknown] => Array.isArray(member) && typeof member[0] === "string";

/** A header may hold words before its secret, such as `Bearer`, and several secrets, each with a name. */
const partsOf = (value: string): readonly string[] => [
  value,
  ...value.split(/[\s,;]+/).flatMap((part) => [part, part.slice(part.indexOf("=") + 1)]),
];

const isPlaceholder = (key: string): boolean => key.length < 16 && /^[a-z]+(?:[-_. ][a-z]+)*$/i.test(key);
