import { ConfigurationError } from "@colloquy/machine";
import { kinds, type OptionKinds } from "@colloquy/host/store";
import { HttpError } from "./http-error.ts";
import type { Call, Principal } from "./route.ts";

/**
 * The rule that admits requests: one token for all of them, or a function that returns the principal of a request. A
 * principal is an object whose `id` is a non-empty text. Any other value is rejected (401).
 */
export type Authenticate =
  | { readonly token: string }
  | ((request: Request) => Principal | null | undefined | Promise<Principal | null | undefined>);

/** Options that control access. */
export interface AccessOptions {
  /**
   * How a caller is identified. A token has at least 16 characters. Default: all callers are admitted as one principal.
   */
  readonly authenticate?: Authenticate;
  /**
   * Whether a principal may use a thread, even one that does not exist yet. If it does not return `true`, the thread is
   * reported as missing (404). Default: all threads.
   */
  readonly mayUse?: (principal: Principal, threadId: string) => boolean | Promise<boolean>;
  /**
   * The prefix of the ids of threads that a principal creates without naming them (conversations, responses, forks). It
   * consists of letters, digits, `_` and `-`. `mayUse` can identify the owner of a thread by it. Default: empty.
   */
  readonly threadPrefix?: (principal: Principal) => string | Promise<string>;
}

/** The access decisions. Only an explicit yes admits. */
export interface Access {
  /** @throws HttpError 401 */
  principalOf(request: Request): Promise<Principal>;
  mayUse(principal: Principal, threadId: string): Promise<boolean>;
  prefixOf(principal: Principal): Promise<string>;
}

/** Turns options into decisions. @throws ConfigurationError for an invalid option */
export const accessOf = (options: AccessOptions): Access => {
  // An unset variable, read as an omitted option, would admit every caller.
  for (const [name, meant] of Object.entries(leftOut)) {
    const given: unknown = Reflect.get(options, name);
    if (name in options && given == null)
      throw new ConfigurationError(`threadServer: ${name} is ${given}; give it a value, or leave it out if ${meant}`);
  }
  const { authenticate = () => anybody, mayUse = () => true, threadPrefix = () => "" } = options;
  return {
    principalOf: async (request) => {
      const given: unknown = await decided("authenticate", () =>
        typeof authenticate === "function" ? authenticate(request) : bearerOf(request, authenticate.token),
      );
      if (isPrincipal(given)) return given;
      throw unauthorized(typeof authenticate === "function" ? "cookie or key" : "key (Authorization: Bearer …)");
    },
    mayUse: async (principal, threadId) => {
      const given: unknown = await decided("mayUse", () => mayUse(principal, threadId));
      return given === true;
    },
    prefixOf: async (principal) => {
      const prefix: unknown = await decided("threadPrefix", () => threadPrefix(principal));
      if (typeof prefix === "string" && /^[A-Za-z0-9_-]{0,64}$/u.test(prefix)) return prefix;
      throw new Error(
        `threadPrefix must give a text of at most 64 letters, digits, "_" and "-" (got ${JSON.stringify(prefix)})`,
      );
    },
  };
};

/** The meaning of leaving an option out. */
const leftOut: { readonly [Option in keyof AccessOptions]-?: string } = {
  authenticate: "everybody that reaches the server may use all threads",
  mayUse: "each principal may use all threads",
  threadPrefix: "ids of threads need no prefix",
};

/**
 * Checks whether the caller may use a thread that its request names. Threads of subagents and sessions have a `/` in
 * their ids, so no request can name them, whatever `mayUse` returns. "new" is excluded, since the host would draw an id
 * for it.
 */
export const mayReach = async (call: Call, threadId: string): Promise<boolean> =>
  isThreadId(threadId) && (await call.mayUse(threadId));

/** Checks whether a request can name a thread of this id. */
export const isThreadId = (text: string): boolean => text !== "new" && /^[A-Za-z0-9_-]{1,128}$/u.test(text);

/** The kinds of the options. An error shows no token. */
export const accessKinds: OptionKinds<AccessOptions> = {
  authenticate: kinds.of(
    "a function, or { token } of 16 or more ASCII characters without spaces: `openssl rand -hex 32` prints one",
    (given) => typeof given === "function" || isToken(Reflect.get(Object(given), "token")),
  ),
  mayUse: kinds.call,
  threadPrefix: kinds.call,
};

const isToken = (given: unknown): boolean => typeof given === "string" && /^[\x21-\x7e]{16,}$/u.test(given);

const isPrincipal = (given: unknown): given is Principal => {
  try {
    if (typeof given !== "object" || given === null || Array.isArray(given) || !("id" in given)) return false;
    return typeof given.id === "string" && given.id !== "";
  } catch {
    // A getter throws.
    return false;
  }
};

/** Waits for an option's decision. Errors other than an `HttpError` are only reported, as they may hold secrets. */
const decided = async <Given>(name: string, decide: () => Given): Promise<Awaited<Given>> => {
  try {
    return await decide();
  } catch (thrown) {
    throw thrown instanceof HttpError ? thrown : new Error(`the option ${name} failed`, { cause: thrown });
  }
};

const anybody: Principal = { id: "anybody" };

/** @param credentials the kind of credentials that this server reads. A function of its user may read any. */
const unauthorized = (credentials: string): HttpError =>
  new HttpError(401, `this server does not know who asks: the ${credentials} of the request is missing or wrong`, {
    type: "authentication_error",
    code: "invalid_api_key",
    headers: { "www-authenticate": "Bearer" },
  });

const bearerOf = async (request: Request, token: string): Promise<Principal | null> => {
  const [, given] = /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return given !== undefined && (await isSame(given, token)) ? { id: "bearer" } : null;
};

/** Compares digests in full, so that the time it takes reveals nothing about the texts. */
const isSame = async (given: string, wanted: string): Promise<boolean> => {
  const [one, other] = await Promise.all([digestOf(given), digestOf(wanted)]);
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
};

const digestOf = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
