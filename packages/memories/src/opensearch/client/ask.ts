import { redact } from "@colloquy/host/runtime";
import type { Client } from "@opensearch-project/opensearch";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import type { Answer, MemoryProblem } from "./memory-client.ts";

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Each element is one path segment, whatever it contains. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, number>>;
  readonly body?: object;
}

/** Sends a request, and parses the response by a schema. */
export type Ask = <Value>(request: Request, schema: z.ZodType<Value>) => Answer<Value>;

export const asking =
  ({ transport }: { readonly transport: Pick<Client["transport"], "request"> }): Ask =>
  async ({ method, path, query = {}, body }, schema) => {
    const nowhere = path.find((segment) => /^\.{0,2}$/.test(segment));
    if (nowhere !== undefined) return refused(`no id is "${nowhere}"`);
    try {
      const response = await transport.request(
        {
          method,
          path: `/${path.map(encodeURIComponent).join("/")}`,
          querystring: query,
          ...(body === undefined ? {} : { body }),
        },
        { maxRetries: 0 },
      );
      const read = schema.safeParse(response.body);
      if (read.success) return Either.right(read.data);
      const status = response.statusCode ?? null;
      return Either.left({ status, reason: `the answer is not as the API says: ${z.prettifyError(read.error)}` });
    } catch (thrown) {
      const { status, reason } = problemOf(thrown);
      return Either.left({ status, reason: withoutSecrets(reason, secretsOf(transport)) });
    }
  };

/** Makes a problem that needs no response. */
export const refused = (reason: string): Either.Either<MemoryProblem, never> => Either.left({ status: null, reason });

const problemOf = (thrown: unknown): MemoryProblem => {
  const read = responseError.safeParse(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!read.success) return { status: null, reason: message };
  const { statusCode, body } = read.data;
  const reason = typeof body?.error === "string" ? body.error : (body?.error?.reason ?? message);
  return { status: statusCode, reason };
};

/** Returns a reason without the secrets, including short ones, which `redact` keeps. */
const withoutSecrets = (reason: string, secrets: readonly string[]): string =>
  redact(
    secrets.filter((secret) => secret !== "").reduce((text, secret) => text.replaceAll(secret, "[redacted]"), reason),
  );

/** Returns the texts with which a client authenticates, as its requests contain them. */
const secretsOf = (transport: object): readonly string[] => {
  const auth = authOf.safeParse(transport).data?.connectionPool.auth;
  if (auth === undefined) return [];
  const { username = "", password } = auth;
  return [Buffer.from(`${username}:${password}`).toString("base64"), encodeURIComponent(password), password];
};

const authOf = z.object({
  connectionPool: z.object({ auth: z.object({ username: z.string().optional(), password: z.string() }) }),
});

/** The client's error for a refusing response. */
const responseError = z.object({
  statusCode: z.int(),
  body: z
    .object({ error: z.union([z.string(), z.object({ reason: z.string() })]) })
    .nullish()
    .catch(null),
});
