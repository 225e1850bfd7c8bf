import type * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";

/** What was refused or failed. It has no header of the request, so no secret of the client's. */
export interface MemoryProblem {
  /** The HTTP status; null where no answer came, or none was asked for. */
  readonly status: number | null;
  readonly reason: string;
}

/** What the service answered. It is never rejected for what the service or the network does. */
export type Answer<Value> = Promise<Either.Either<MemoryProblem, Value>>;

/**
 * Returns a reason without credentials.
 *
 * @param secrets texts that the client authenticates with
 */
export const reasonWithoutSecrets = (reason: string, secrets: readonly string[]): string =>
  secrets
    .reduce((text, secret) => text.replaceAll(secret, withheld), reason)
    .replaceAll(/\/\/[^\s"'<>]*@/g, "//")
    .replaceAll(/\b(Basic|Bearer|ApiKey)\s+[\w+/=.~-]+/gi, `$1 ${withheld}`)
    .replaceAll(
      /\b(password|passwd|secret|token|api[_-]?key|Credential|Signature)(["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s"',;&}]+)/gi,
      `$1$2${withheld}`,
    );

/** The texts that a client authenticates with, as its requests write them. */
export const secretsOf = (transport: object): readonly string[] => {
  const auth = authOf.safeParse(transport).data?.connectionPool.auth;
  if (auth === undefined) return [];
  const { username = "", password } = auth;
  return [btoaOf(`${username}:${password}`), encodeURIComponent(password), password].filter((text) => text !== "");
};

const btoaOf = (text: string): string => Buffer.from(text).toString("base64");

const authOf = z.object({
  connectionPool: z.object({ auth: z.object({ username: z.string().optional(), password: z.string() }) }),
});

const withheld = "[withheld]";
