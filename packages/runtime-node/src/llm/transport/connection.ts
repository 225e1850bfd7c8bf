import type { LlmHandler } from "@colloquy/host";
import { problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type OpenAI from "openai";
import type { ClientOptions } from "openai";
import { variable } from "../secrets/environment.ts";
import { keysIn, refuseCredentials, sentBy } from "../secrets/secrets.ts";
import { connectionOptions, problemOfValues, waitOptions, type WaitOptions, type Waits, waitsOf } from "./options.ts";

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
  /** The base URL of the server. */
  readonly baseURL: string;
  /** The client is the caller's. */
  readonly isGiven: boolean;
  /** Gives the keys that go with each request, as far as they are known by now. */
  readonly keys: () => readonly string[];
}

/**
 * Splits the options of a handler into those of its connection, from which a client is made, and its own. The SDK takes
 * longer to load than all else, and is loaded with the first call; what is wrong with the options is said at once.
 *
 * @param handler Its name, for errors.
 * @param own The names of its own options.
 * @throws ConfigurationError for an option that there is none of or that is invalid, and where there is no key
 * @throws TypeError where the base URL holds credentials
 */
export const connect = <Options extends object>(
  handler: string,
  given: Options & OpenAiConnection,
  own: { readonly [Name in keyof Options]-?: true },
): Connected<Options> => {
  const environment = fromEnvironment();
  const problem =
    problemOfOptions(handler, given, { ...own, ...connectionOptions, ...waitOptions, client: true }) ??
    problemOfValues(handler, given, environment);
  if (problem !== null) throw new ConfigurationError(problem);
  const common = { handler, options: frozenCopy(pick<Options, keyof Options>(given, own)), waits: waitsOf(given) };
  const { client } = given;
  if (client !== undefined) {
    if (!isClient(client))
      throw new ConfigurationError(
        `client of ${handler} is none of the package openai; give new OpenAI({ … }), or leave it out`,
      );
    const { baseURL } = client;
    refuseCredentials(handler, baseURL);
    return { ...common, client: () => client, baseURL, isGiven: true, keys: () => keysIn(sentBy(client)) };
  }
  const connection: ClientOptions = { fetch, ...environment, ...frozenCopy(pick(given, connectionOptions)) };
  refuseCredentials(handler, connection.baseURL ?? "");
  const key = keyFor(handler, connection);
  let made: OpenAI | undefined;
  return {
    ...common,
    client: (SDK) => (made ??= new SDK({ ...connection, ...key })),
    baseURL: connection.baseURL || "https://api.openai.com/v1",
    isGiven: false,
    keys: () => keysIn(sentBy(made ?? connection)),
  };
};

/** A handler whose code is loaded with its first call, the SDK with it: not every process that makes one calls it. */
export const loadedLater = ({ keys }: Connected<object>, load: () => Promise<LlmHandler>): LlmHandler => {
  let loaded: Promise<LlmHandler> | undefined;
  const handler: LlmHandler = async (call, context) => {
    loaded ??= load();
    // The next call tries again.
    loaded.catch(() => (loaded = undefined));
    return (await loaded)(call, context);
  };
  return Object.assign(handler, { secrets: keys });
};

/** What the SDK takes from around it where nothing is given, as it is now: at the first call it may be another. */
const fromEnvironment = (): ClientOptions =>
  Object.fromEntries(
    [
      ["apiKey", "OPENAI_API_KEY"],
      ["adminAPIKey", "OPENAI_ADMIN_KEY"],
      ["baseURL", "OPENAI_BASE_URL"],
      ["organization", "OPENAI_ORG_ID"],
      ["project", "OPENAI_PROJECT_ID"],
    ].flatMap(([name = "", from = ""]) => {
      const value = variable(from)?.trim() ?? "";
      return value === "" ? [] : [[name, value]];
    }),
  );

/** A server of one's own often needs no key, but the SDK wants one. @throws ConfigurationError where OpenAI's needs one, and where a page would show it */
const keyFor = (
  handler: string,
  { apiKey, adminAPIKey, baseURL, dangerouslyAllowBrowser }: ClientOptions,
): Pick<ClientOptions, "apiKey" | "dangerouslyAllowBrowser"> => {
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
  if (isGiven(apiKey) || isGiven(adminAPIKey)) {
    // The SDK asks for the same, but it is made with the first call.
    if (isPage() && dangerouslyAllowBrowser !== true)
      throw new ConfigurationError(
        `${handler} has an apiKey, which everybody who opens the page can read; give the baseURL of a server of yours that has the key, and no apiKey, or dangerouslyAllowBrowser: true`,
      );
    return {};
  }
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
): Partial<Pick<Options, Name>> =>
  // Those of the names that have a value.
  Object.fromEntries(
    Object.entries(options).filter(([name, value]) => name in names && value !== undefined),
  ) as Partial<Pick<Options, Name>>;
