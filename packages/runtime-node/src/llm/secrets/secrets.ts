import { charactersRead, redact } from "@colloquy/host/runtime";
import type OpenAI from "openai";
import type { ClientOptions } from "openai";

/** A header or parameter that goes with each request. A key of the client itself has no name. */
export interface Sent {
  readonly name: string | null;
  readonly value: string;
}

/** Returns what a client of the SDK sends with each request, or will send, by its options. */
export const sentBy = (client: OpenAI | ClientOptions): readonly Sent[] => {
  const { apiKey, adminAPIKey } = client;
  // The SDK's types protect them; only a cast reaches the options of a given client.
  const { defaultHeaders, defaultQuery } = "_options" in client ? client["_options"] : client;
  const keys = [apiKey, adminAPIKey].map((value): Row => [null, value]);
  return [...keys, ...rowsOf(defaultHeaders), ...rowsOf(defaultQuery)].flatMap(([name, given]) =>
    [given].flat().flatMap((value) => (typeof value === "string" ? [{ name, value }] : [])),
  );
};

type Row = readonly [name: string | null, value: unknown];

const rowsOf = (given: unknown): readonly Row[] => {
  if (typeof given !== "object" || given === null) return [];
  // The SDK wraps headers if its environment variable adds some.
  const rows = "values" in given && given.values instanceof Headers ? given.values : given;
  // Headers are a `Headers`, pairs or an object, as `connect` checks.
  return Symbol.iterator in rows ? [...(rows as Iterable<Row>)] : Object.entries(rows);
};

/** Returns the texts that no error may show: keys, and the values of headers and query, where other providers take keys. */
export const secretsIn = (sent: readonly Sent[]): readonly string[] =>
  sent.flatMap(({ value }) => partsOf(value).flatMap((part) => [part, encodeURIComponent(part.toWellFormed())]));

/**
 * Returns the secrets that no reply may show either: the client's keys, the values of headers and parameters that are named
 * like keys, and values that look like keys. Placeholders for local servers ("not-needed") may be in any reply.
 */
export const keysIn = (sent: readonly Sent[]): readonly string[] =>
  sent.flatMap(({ name, value }) => {
    const isKey = name === null || wordsOf(name).some((word) => namesOfKeys.test(word));
    return partsOf(value).filter((part) => !isPlaceholder(part) && (isKey || redact(part) !== part));
  });

/** `x-design-version` is not a signature, and `X-Authority` not an authorization. */
const namesOfKeys =
  /(?:keys?|tokens?|secrets?|passwords?|passwd|credentials?|cookies?)$|^(?:o?auth|authorization|authentication|sig|signature|code)$/i;

/** Splits names such as `x-api-key`, `apiKey` and `access_token`. */
const wordsOf = (name: string): readonly string[] => name.replaceAll(/([a-z])([A-Z])/g, "$1-$2").split(/[-_. ]+/);

/** A header may have words before its secret, such as `Bearer`, and several secrets, each with a name. */
const partsOf = (value: string): readonly string[] => [
  value,
  ...value.split(/[\s,;]+/).flatMap((part) => [part, part.slice(part.indexOf("=") + 1)]),
];

const isPlaceholder = (key: string): boolean => key.length < 16 && /^[a-z]+(?:[-_. ][a-z]+)*$/i.test(key);

/**
 * Returns the values of environment variables with secret-like names, each of their lines, and both as a URL has them: JSON
 * quotes a key of several lines, or a part of it.
 */
export const secretsOfEnvironment = (): readonly string[] =>
  valuesNamed(/(?:^|_)(?:\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)|PASS|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)/i)
    .flatMap((value) => [value, ...value.split(/\r?\n/)])
    .flatMap((text) => [text, encodeURIComponent(text.toWellFormed())])
    .map((text) => text.slice(0, charactersRead));

/**
 * Returns the values of variables that are named like keys of model providers, such as `ANTHROPIC_API_KEY`: few enough to
 * look for in replies. Shorter values are placeholders, which may be in any reply.
 */
export const keysOfEnvironment = (): readonly string[] =>
  valuesNamed(/(?:^|_)(?:API_KEY|API_TOKEN|ACCESS_KEY|AUTH_TOKEN|BEARER_TOKEN(?:_\w+)?)$/i)
    .filter((value) => value.length >= 16)
    .map((value) => value.slice(0, charactersRead));

const valuesNamed = (pattern: RegExp): readonly string[] => {
  const all = fromEnvironment((variables) => Object.entries(variables)) ?? [];
  return all.flatMap(([name, value]) => (value !== undefined && pattern.test(name) ? [value] : []));
};

/** Returns the value of one variable; undefined if there is none, or if it may not be read. */
export const variable = (name: string): string | undefined => fromEnvironment((variables) => variables[name]);

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns undefined if the variables cannot be read, as in Deno without `--allow-env`. */
const fromEnvironment = <Read>(read: (variables: Variables) => Read): Read | undefined => {
  // Node, Deno and Bun have a process; some workers and browsers have none.
  const platform = globalThis as { readonly process?: { readonly env?: Variables } };
  try {
    return read(platform.process?.env ?? {});
  } catch {
    return undefined;
  }
};
