import { charactersRead } from "@colloquy/host/runtime";

/**
 * The values of environment variables that are named like secrets, each of their lines, and both as they stand in a URL: a key
 * of several lines is quoted in JSON, or in part. No more of each than is read of a text: patterns have their limits.
 */
export const secretsOfEnvironment = (): readonly string[] =>
  allVariables()
    .flatMap(([name, value]) => (isSecret.test(name) ? [value, ...value.split(/\r?\n/)] : []))
    .flatMap((text) => [text, encodeURIComponent(text.toWellFormed())])
    .map((text) => text.slice(0, charactersRead));

/** Those that are keys of model providers by their names, such as `ANTHROPIC_API_KEY`: few enough to be looked for in replies. */
export const keysOfEnvironment = (): readonly string[] =>
  allVariables().flatMap(([name, value]) =>
    isKey.test(name) && value.length >= keyLengthMin ? [value.slice(0, charactersRead)] : [],
  );

/** By whole words: `GIT_AUTHOR_NAME` is no secret. */
const isSecret = /(?:^|_)(?:\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)|PASS|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)/i;

const isKey = /(?:^|_)(?:API_KEY|API_TOKEN|ACCESS_KEY|AUTH_TOKEN|BEARER_TOKEN(?:_\w+)?)$/i;

/** Shorter ones are words that a server of one's own takes, and may stand in any reply. */
const keyLengthMin = 16;

/**
 * The environment variables, as they are now: none where the platform has none, as a browser, and none where it does not let
 * them be listed, as Deno without `--allow-env`. What can't be read needs no hiding.
 */
const allVariables = (): readonly (readonly [name: string, value: string])[] => {
  try {
    return Object.entries(environment()).map(([name, value = ""]) => [name, value] as const);
  } catch {
    return [];
  }
};

/** The value of one variable; undefined where there is none, and where it may not be read. */
export const variable = (name: string): string | undefined => {
  try {
    return environment()[name];
  } catch {
    return undefined;
  }
};

/** As much of a platform as is looked at here: Node, Deno and Bun have a process, some workers and no browser do. */
const environment = (): Readonly<Record<string, string | undefined>> => {
  const platform = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };
  return platform.process?.env ?? {};
};
