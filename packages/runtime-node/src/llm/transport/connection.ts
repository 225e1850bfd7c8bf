import type { LlmHandler } from "@colloquy/host";
import { checkOptions, checkValue, kinds, type OptionKind } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import type OpenAI from "openai";
import type { ClientOptions } from "openai";
import { isList } from "../json/loose-json.ts";
import { checkDialect } from "../wire/check-dialect.ts";
import { keysIn, sentBy, variable } from "../secrets/secrets.ts";
import type { WireOptions } from "../wire/handler-on-wire.ts";
import type { WaitOptions } from "./running-call.ts";

/** A client of the official SDK, or options for one. The client's own retries are not used: the machine retries. */
export type OpenAiConnection = WaitOptions &
  ({ readonly client: OpenAI } | ({ readonly client?: never } & Pick<ClientOptions, ConnectionOption>));

/** The options of the SDK's client that a handler takes. */
type ConnectionOption =
  | ("apiKey" | "baseURL" | "organization" | "project" | "defaultHeaders" | "defaultQuery" | "fetch" | "fetchOptions")
  | ("timeout" | "dangerouslyAllowBrowser");

/** The connection of a handler, and a frozen copy of its other options. */
export interface Connected<Options> {
  /** The handler's name, for errors. */
  readonly handler: string;
  /** Returns the given client, or makes one at the first call. */
  readonly client: (sdk: typeof OpenAI) => OpenAI;
  readonly options: Partial<Options>;
  readonly waits: WaitOptions;
  /** @throws ConfigurationError as `check` */
  readonly baseURL: string;
  /** The client is the caller's. */
  readonly isGiven: boolean;
  /** Returns the keys of each request, as far as they are known. */
  readonly keys: () => readonly string[];
  /** @throws ConfigurationError if the key is missing or the environment is invalid */
  readonly check: () => void;
}

/**
 * Splits the options of a handler into those of its connection and its own. The first call reads the environment, loads the
 * SDK and makes the client: a server may be built without a key.
 *
 * @param own The kinds of the handler's own options.
 * @throws ConfigurationError for an unknown or invalid option
 */
export const connect = <Options extends WireOptions>(
  handler: string,
  given: Options & OpenAiConnection,
  own: { readonly [Name in keyof Options]-?: OptionKind },
): Connected<Options> => {
  const connection = { ...connectionKinds, baseURL: urlFor(given.client === undefined ? given.fetch : undefined) };
  checkOptions<object>(handler, given, { ...own, ...connection, ...waitKinds, client: clientKind });
  checkDialect(handler, given.dialect);
  const { client } = given;
  const chosen: ClientOptions = { fetch, ...frozenCopy(pick<ClientOptions>(given, connectionKinds)) };
  if (client !== undefined) refuseCredentials(handler, client.baseURL);
  else {
    checkHeaders(handler, chosen.defaultHeaders);
    checkSecrets(handler, chosen);
  }
  let found: ClientOptions | undefined;
  const connected = (): ClientOptions => {
    if (found !== undefined) return found;
    const all = { ...environmentFor(chosen, connection), ...chosen };
    checkSecrets(handler, all);
    return (found = { ...all, ...keyFor(handler, all) });
  };
  let made = client;
  return {
    handler,
    options: frozenCopy(pick<Options>(given, own)),
    waits: pick<WaitOptions>(given, waitKinds),
    client: (SDK) => (made ??= new SDK(connected())),
    get baseURL() {
      return client?.baseURL ?? (connected().baseURL || "https://api.openai.com/v1");
    },
    isGiven: client !== undefined,
    keys: () => keysIn(sentBy(made ?? found ?? { ...fromEnvironment(), ...chosen })),
    check: () => void (client ?? connected()),
  };
};

/**
 * Returns a handler whose code and SDK are loaded with its first call: not every process that makes one calls it. Calls fail
 * while `check` throws.
 */
export const loadedLater = ({ keys, check }: Connected<object>, load: () => Promise<LlmHandler>): LlmHandler => {
  let loaded: Promise<LlmHandler> | undefined;
  const handler: LlmHandler = async (call, context) => {
    try {
      check();
    } catch (thrown) {
      if (!(thrown instanceof ConfigurationError)) throw thrown;
      return { type: "failed", failure: { kind: "auth", message: thrown.message, retryable: false } };
    }
    loaded ??= load();
    // The next call tries again.
    loaded.catch(() => (loaded = undefined));
    return (await loaded)(call, context);
  };
  return Object.assign(handler, { secrets: keys, check });
};

const isSendable = (name: string, value: string): boolean => {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
};

/** The SDK takes null for "left out". */
const orNull = (kind: OptionKind): OptionKind => ({ ...kind, fits: (value) => value === null || kind.fits(value) });

const headerText = orNull(
  kinds.of("a text that a header can have", (value) => typeof value === "string" && isSendable("a", value)),
);

/** A `fetch` of the caller's may know other schemes than Node's. */
const urlFor = (given: unknown): OptionKind => {
  const isUrl = (value: string): boolean =>
    URL.canParse(value) && ((given ?? fetch) !== fetch || /^https?:$/.test(new URL(value).protocol));
  const fits = (value: unknown): boolean => typeof value === "string" && (value === "" || isUrl(value));
  return orNull(kinds.of('a URL with http:// or https://, such as "http://127.0.0.1:8080/v1"', fits));
};

const isKey = (value: unknown): boolean =>
  typeof value === "function" || (typeof value === "string" && isSendable("authorization", `Bearer ${value}`));

/** Timers of Node cannot wait longer. */
export const timeoutMax: number = 2 ** 31 - 1;

const isTimeout = (value: unknown): boolean => typeof value === "number" && value > 0 && value <= timeoutMax;

const keyKind = kinds.of("a text that a header can have, without line breaks, or a function that gives one", isKey);

const connectionKinds: Readonly<Record<ConnectionOption, OptionKind>> = {
  apiKey: { ...orNull(keyKind), isSecret: true },
  baseURL: urlFor(undefined),
  organization: headerText,
  project: headerText,
  defaultHeaders: orNull(kinds.of("an object of headers", (value) => typeof value === "object")),
  defaultQuery: orNull(kinds.object),
  fetch: orNull(kinds.call),
  fetchOptions: orNull(kinds.object),
  timeout: orNull(kinds.word(`a number of milliseconds, from 1 to ${timeoutMax}`, isTimeout)),
  dangerouslyAllowBrowser: orNull(kinds.flag),
};

const clientKind = kinds.having("a client of the package openai, such as new OpenAI({ … })", "post");

export const waitKind: OptionKind = kinds.word(
  "a whole number of milliseconds above 0, or null for no limit",
  (value) => value === null || (Number.isSafeInteger(value) && Number(value) > 0),
);

const waitKinds = { idleTimeoutMs: waitKind, endTimeoutMs: waitKind };

/** A `Headers` has refused invalid members already. No value is shown. */
const checkHeaders = (handler: string, headers: unknown): void => {
  for (const row of isList(headers) ? headers : Object.entries(headers ?? {})) {
    const [name, ...values] = isList(row) ? row.flat() : [];
    if (typeof name !== "string")
      throw new ConfigurationError(`${handler}: defaultHeaders must be an object of headers (got a list of others)`);
    const shown = JSON.stringify(name);
    if (["", ...values].some((value) => typeof value === "string" && !isSendable(name, value)))
      throw new ConfigurationError(`${handler}: a header ${shown} can't be sent; mend its name or its value`);
  }
};

/** Where the SDK looks for options that are not given. */
const variables = [
  ["apiKey", "OPENAI_API_KEY"],
  ["adminAPIKey", "OPENAI_ADMIN_KEY"],
  ["baseURL", "OPENAI_BASE_URL"],
  ["organization", "OPENAI_ORG_ID"],
  ["project", "OPENAI_PROJECT_ID"],
] as const;

const fromEnvironment = (): ClientOptions =>
  Object.fromEntries(
    variables.map(([option, name]) => [option, variable(name)?.trim()] as const).filter(([, value]) => value),
  );

/** @throws ConfigurationError for an invalid variable, unless its option is given */
const environmentFor = (chosen: ClientOptions, connection: Readonly<Record<string, OptionKind>>): ClientOptions => {
  const environment = fromEnvironment();
  for (const [option, name] of variables) {
    const kind = option in environment && !(option in chosen) ? connection[option] : undefined;
    if (kind !== undefined) checkValue(name, environment[option], kind);
  }
  return environment;
};

/** @throws ConfigurationError if the base URL has credentials, or if a page would show the key */
const checkSecrets = (handler: string, options: ClientOptions): void => {
  refuseCredentials(handler, options.baseURL ?? "");
  // The SDK refuses it too, but only with the first call.
  if (hasKey(options) && isPage() && options.dangerouslyAllowBrowser !== true)
    throw new ConfigurationError(
      `${handler} has an apiKey, which everybody who opens the page can read; give the baseURL of a server of yours that has the key, and no apiKey, or dangerouslyAllowBrowser: true`,
    );
};

/** `fetch` refuses each request to a URL with credentials, and shows the whole URL in its error. */
const refuseCredentials = (handler: string, baseURL: string): void => {
  const url = URL.parse(baseURL);
  if (url === null || (url.username === "" && url.password === "")) return;
  throw new ConfigurationError(
    `${handler}: the base URL of ${url.host} holds a user name or a password; send them as a header, by defaultHeaders`,
  );
};

const hasKey = ({ apiKey, adminAPIKey }: ClientOptions): boolean => Boolean(apiKey) || Boolean(adminAPIKey);

/** The SDK wants a key, which servers other than OpenAI's often do not need. @throws ConfigurationError if OpenAI needs one */
const keyFor = (handler: string, options: ClientOptions): ClientOptions => {
  if (hasKey(options)) return {};
  // A page cannot show a key that is not there.
  if (options.baseURL) return { apiKey: "none", dangerouslyAllowBrowser: true };
  throw new ConfigurationError(
    `${handler} has no key: set OPENAI_API_KEY, or give apiKey; a server of your own, named by baseURL or OPENAI_BASE_URL, needs none`,
  );
};

/** The SDK's own rule. */
const isPage = (): boolean => {
  const { window, navigator } = globalThis as {
    readonly window?: { readonly document?: unknown };
    readonly navigator?: unknown;
  };
  return window?.document !== undefined && navigator !== undefined;
};

/** Returns the options of these names that have a value. */
const pick = <Options extends object>(options: object, names: { readonly [Name in keyof Options]?: unknown }) =>
  // The filter leaves only these names.
  Object.fromEntries(
    Object.entries(options).filter(([name, value]) => name in names && value !== undefined),
  ) as Partial<Options>;
