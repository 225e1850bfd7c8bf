import { ConfigurationError } from "@colloquy/machine";
import { HttpError } from "./http-error.ts";
import type { Call, Principal } from "./route.ts";

/**
 * The rule by which requests are let in: a token that all of them bear, or a function that gives a request its principal.
 * Only an object with a text as its `id`, which is not empty, is a principal. Anything else is nobody (401).
 */
export type Authenticate =
  | { readonly token: string }
  | ((request: Request) => Principal | null | undefined | Promise<Principal | null | undefined>);

/** The options that decide about access. */
export interface AccessOptions {
  /** Who may ask. A token has 16 characters or more. Default: everybody who reaches the server, as one principal. */
  readonly authenticate?: Authenticate;
  /** Whether a principal may use a thread, also one that does not exist yet. Unless it gives `true`, the thread is answered as missing (404). Default: all. */
  readonly mayUse?: (principal: Principal, threadId: string) => boolean | Promise<boolean>;
  /**
   * The prefix of the ids of threads that a principal creates without naming them (conversations, responses, forks), of
   * letters, digits, `_` and `-`. `mayUse` can tell the owner of a thread by it. Default: nothing.
   */
  readonly threadPrefix?: (principal: Principal) => string | Promise<string>;
}

/** The decisions about access. Anything but a clear yes is a no. */
export interface Access {
  /** @throws HttpError 401 */
  principalOf(request: Request): Promise<Principal>;
  mayUse(principal: Principal, threadId: string): Promise<boolean>;
  prefixOf(principal: Principal): Promise<string>;
}

/** Makes the decisions of options. @throws ConfigurationError for one that is invalid */
export const accessOf = (options: AccessOptions): Access => {
  const problem = problemOfAccess(options);
  if (problem !== null) throw new ConfigurationError(`threadServer: ${problem}`);
  const { authenticate = () => anybody, mayUse = () => true, threadPrefix = () => "" } = options;
  return {
    principalOf: async (request) => {
      const given: unknown = await decided("authenticate", () =>
        typeof authenticate === "function" ? authenticate(request) : bearerOf(request, authenticate.token),
      );
      if (isPrincipal(given)) return given;
      throw unauthorized();
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

/**
 * Whether the caller may use a thread that its request names. Threads of subagents and sessions have a `/` in their ids: they
 * are not reached by name, whatever `mayUse` says of them. "new" would draw an id.
 */
export const mayReach = async (call: Call, threadId: string): Promise<boolean> =>
  isThreadId(threadId) && (await call.mayUse(threadId));

/** Whether a request can name a thread of this id. */
export const isThreadId = (text: string): boolean => text !== "new" && /^[A-Za-z0-9_-]{1,128}$/u.test(text);

const problemOfAccess = (options: AccessOptions): string | null => {
  // A variable that is not set, taken for an option that is left out, would let everybody in.
  for (const name of ["authenticate", "mayUse", "threadPrefix"] as const)
    if (Object.hasOwn(options, name) && options[name] == null)
      return `${name} is ${String(options[name])}; give it a value, or leave it out`;
  const { authenticate, mayUse, threadPrefix } = options;
  for (const [name, value] of Object.entries({ mayUse, threadPrefix }))
    if (value !== undefined && typeof value !== "function") return `${name} must be a function (got a ${typeof value})`;
  if (authenticate === undefined || typeof authenticate === "function") return null;
  if (typeof authenticate.token !== "string") return "authenticate must be a function, or { token } with a text";
  return isToken(authenticate.token)
    ? null
    : "authenticate: the token must be 16 or more ASCII characters without spaces: `openssl rand -hex 32` prints one";
};

/** Whether a text is long enough to be a token, and can be sent in a header. */
const isToken = (text: string): boolean => /^[\x21-\x7e]{16,}$/u.test(text);

const isPrincipal = (given: unknown): given is Principal => {
  try {
    if (typeof given !== "object" || given === null || Array.isArray(given) || !("id" in given)) return false;
    return typeof given.id === "string" && given.id !== "";
  } catch {
    // Reading it throws.
    return false;
  }
};

/** Waits for the decision of an option. A refusal that it throws is answered. Another error may hold a secret, so it is only reported. */
const decided = async <Given>(name: string, decide: () => Given): Promise<Awaited<Given>> => {
  try {
    return await decide();
  } catch (thrown) {
    throw thrown instanceof HttpError ? thrown : new Error(`the option ${name} failed`, { cause: thrown });
  }
};

const anybody: Principal = { id: "anybody" };

const unauthorized = (): HttpError =>
  new HttpError(401, "this server needs a key: Authorization: Bearer …, and the one given is missing or wrong", {
    type: "authentication_error",
    code: "invalid_api_key",
    headers: { "www-authenticate": "Bearer" },
  });

const bearerOf = async (request: Request, token: string): Promise<Principal | null> => {
  const [, given] = /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return given !== undefined && (await isSame(given, token)) ? { id: "bearer" } : null;
};

/** Compares digests of one length, to their ends: the time that it takes says nothing of the texts. */
const isSame = async (given: string, wanted: string): Promise<boolean> => {
  const [one, other] = await Promise.all([digestOf(given), digestOf(wanted)]);
  return one.reduce((difference, byte, index) => difference | (byte ^ (other[index] ?? 0)), 0) === 0;
};

const digestOf = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
