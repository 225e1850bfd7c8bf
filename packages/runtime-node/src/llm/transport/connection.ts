import type { LlmHandler } from "@colloquy/host";
import { problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type OpenAI from "openai";
import type { ClientOptions } from "openai";
import { keysOf, keysOfOptions, refuseCredentials } from "../secrets/secrets.ts";
import { variable } from "../secrets/variables.ts";
import { problemOfDialect } from "../wire/dialects.ts";
import { connectionOptions, problemOfConnection } from "./connection-options.ts";
import { problemOfWaits, waitOptions, type WaitOptions, type Waits, waitsOf } from "./waits.ts";

/** A client of the official SDK, or what to make one from. Its own retries are not used: the machine retries. */
export type OpenAiConnection = WaitOptions &
  ({ readonly client: OpenAI } | ({ readonly client?: never } & Pick<ClientOptions, keyof typeof connectionOptions>));

/** How a handler comes by its client, and its other options: a frozen copy of them. */
export interface Connected<Options> {
  /** Its name, for errors. */
  readonly handler: string;
  /** The client that was given, or one that is made with the first call. */
  readonly client: (sdk: typeof OpenAI) => OpenAI;
  readonly options: Partial<Options>;
  readonly waits: Waits;
  /** The base URL of the server. @throws as `check` */
  readonly baseURL: string;
  /** The client is the caller's. */
  readonly isGiven: boolean;
  /** Gives the keys that go with each request, as far as they are known by now. */
  readonly keys: () => readonly string[];
  /** Throws a `ConfigurationError` if no call can be made: where there is no key, and where the environment is wrong. */
  readonly check: () => void;
}

/**
 * Splits the options of a handler into those of its connection, from which a client is made, and its own. What is wrong with
 * the options is said at once. The environment is read by the first call, the key with it: a server may be built without one.
 * The SDK takes longer to load than all else, and is loaded with that call too.
 *
 * @param handler Its name, for errors.
 * @param own The names of its own options.
 * @throws ConfigurationError for an option that there is none of or that is invalid
 */
export const connect = <Options extends object>(
  handler: string,
  given: Options & OpenAiConnection,
  own: { readonly [Name in keyof Options]-?: true },
): Connected<Options> => {
  const problem = problemOfOptions(handler, given, { ...own, ...connectionOptions, ...waitOptions, client: true });
  if (problem !== null) throw new ConfigurationError(problem);
  for (const [name, value] of Object.entries(given))
    if ((name === "stream" || name === "includeUsage") && value !== undefined && typeof value !== "boolean")
      throw new ConfigurationError(`${name} of ${handler} is ${JSON.stringify(value)}; it must be true or false`);
    else if (name === "writtenBytes" && value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 0))
      throw new ConfigurationError(
        `writtenBytes of ${handler} is ${JSON.stringify(value)}; it must be a whole number of bytes, 0 or more`,
      );
  const wrongWait = problemOfWaits(handler, given);
  if (wrongWait !== null) throw new ConfigurationError(wrongWait);
  const { dialect } = given as { readonly dialect?: unknown };
  const unknown = dialect === undefined ? null : problemOfDialect(dialect);
  if (unknown !== null) throw new ConfigurationError(`dialect of ${handler} ${unknown}`);
  const options = frozenCopy(pick<Options, keyof Options>(given, own));
  const waits = waitsOf(given);
  const { client } = given;
  if (client !== undefined) {
    if (!isClient(client))
      throw new ConfigurationError(
        `client of ${handler} is none of the package openai; give new OpenAI({ … }), or leave it out`,
      );
    refuseCredentials(handler, client.baseURL);
    return {
      handler,
      client: () => client,
      options,
      waits,
      baseURL: client.baseURL,
      isGiven: true,
      keys: () => keysOf(client),
      check: () => {},
    };
  }
  const chosen = frozenCopy(pick(given, connectionOptions));
  checkConnection(handler, chosen, given);
  let found: ClientOptions | undefined;
  const connection = (): ClientOptions => {
    if (found !== undefined) return found;
    const all = { ...fromSurroundings(), ...chosen };
    checkConnection(handler, all, given);
    return (found = { ...all, ...keyFor(handler, all) });
  };
  let made: OpenAI | undefined;
  return {
    handler,
    client: (SDK) => (made ??= new SDK(connection())),
    options,
    waits,
    get baseURL() {
      return connection().baseURL || "https://api.openai.com/v1";
    },
    isGiven: false,
    keys: () => (made === undefined ? keysOfOptions(found ?? { ...fromSurroundings(), ...chosen }) : keysOf(made)),
    check: () => void connection(),
  };
};

/** @throws ConfigurationError for what can't be sent, and for a base URL with credentials */
const checkConnection = (
  handler: string,
  connection: ClientOptions,
  given: Parameters<typeof problemOfConnection>[2],
): void => {
  const wrong = problemOfConnection(handler, connection, given);
  if (wrong !== null) throw new ConfigurationError(wrong);
  refuseCredentials(handler, connection.baseURL ?? "");
  refuseShownKey(handler, connection);
};

/**
 * A handler whose code is loaded with its first call, the SDK with it: not every process that makes one calls it. Calls fail
 * while `check` throws.
 */
export const loadedLater = ({ keys, check }: Connected<object>, load: () => Promise<LlmHandler>): LlmHandler => {
  let loaded: Promise<LlmHandler> | undefined;
  const begin = async (): Promise<LlmHandler> => {
    try {
      return await load();
    } catch (thrown) {
      // The next call tries again.
      loaded = undefined;
      throw thrown;
    }
  };
  const handler: LlmHandler = async (call, context) => {
    try {
      check();
    } catch (thrown) {
      if (!(thrown instanceof ConfigurationError)) throw thrown;
      return { type: "failed", failure: { kind: "auth", message: thrown.message, retryable: false } };
    }
    return (await (loaded ??= begin()))(call, context);
  };
  return Object.assign(handler, { secrets: keys, check });
};

/** What the SDK takes from around it where nothing is given. */
const fromSurroundings = (): ClientOptions => {
  const set = {
    apiKey: variable("OPENAI_API_KEY")?.trim(),
    adminAPIKey: variable("OPENAI_ADMIN_KEY")?.trim(),
    baseURL: variable("OPENAI_BASE_URL")?.trim(),
    organization: variable("OPENAI_ORG_ID")?.trim(),
    project: variable("OPENAI_PROJECT_ID")?.trim(),
  };
  return {
    fetch,
    ...Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined && value !== "")),
  };
};

/** @throws ConfigurationError where a page would show the key. The SDK asks for the same, but it is made with the first call. */
const refuseShownKey = (handler: string, { apiKey, adminAPIKey, dangerouslyAllowBrowser }: ClientOptions): void => {
  if ((isGiven(apiKey) || isGiven(adminAPIKey)) && isPage() && dangerouslyAllowBrowser !== true)
    throw new ConfigurationError(
      `${handler} has an apiKey, which everybody who opens the page can read; give the baseURL of a server of yours that has the key, and no apiKey, or dangerouslyAllowBrowser: true`,
    );
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** A server of one's own often needs no key, but the SDK wants one. @throws ConfigurationError where OpenAI's needs one */
const keyFor = (
  handler: string,
  { apiKey, adminAPIKey, baseURL }: ClientOptions,
): Pick<ClientOptions, "apiKey" | "dangerouslyAllowBrowser"> => {
  if (isGiven(apiKey) || isGiven(adminAPIKey)) return {};
  // Where there is no key, a page shows none.
  if (isGiven(baseURL)) return { apiKey: "none", dangerouslyAllowBrowser: true };
  throw new ConfigurationError(
    `${handler} has no key: set OPENAI_API_KEY, or give apiKey; a server of your own, named by baseURL or OPENAI_BASE_URL, needs none`,
  );
};

/** As the SDK asks. */
const isPage = (): boolean => {
  const { window, navigator } = globalThis as {
    readonly window?: { readonly document?: unknown };
    readonly navigator?: unknown;
  };
  return window?.document !== undefined && navigator !== undefined;
};

/** Callers in JavaScript hand in anything. It may be a client of another copy of the SDK, so no class is asked for. */
const isClient = (client: object | null): boolean =>
  typeof client === "object" && client !== null && "post" in client && "baseURL" in client;

const pick = <Options extends object, Name extends keyof Options>(
  options: Options,
  names: { readonly [Each in Name]: true },
): Partial<Pick<Options, Name>> => {
  const picked: Partial<Pick<Options, Name>> = {};
  // A table of names has no others.
  for (const name of Object.keys(names) as Name[]) if (options[name] !== undefined) picked[name] = options[name];
  return picked;
};
