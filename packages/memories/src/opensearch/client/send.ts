import { redact } from "@colloquy/host/runtime";
import type { Client } from "@opensearch-project/opensearch";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import type { Answer, MemoryProblem, Info, MemoryMessage, MemoryPage, MessageDraft } from "./memory-client.ts";

interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Each element is one path segment, whatever it contains. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, number>>;
  readonly body?: object;
}

/** Sends a request, and parses the response by a schema. */
export type Send = <Value>(request: Request, schema: z.ZodType<Value>) => Answer<Value>;

export const sender =
  ({ transport }: { readonly transport: Pick<Client["transport"], "request"> }): Send =>
  async ({ method, path, query = {}, body }, schema) => {
    // An empty segment, "." and ".." would change the path.
    const invalid = path.find((segment) => /^\.{0,2}$/.test(segment));
    if (invalid !== undefined) return refused(`"${invalid}" is not an id`);
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
      return Either.left({ status, reason: `the response does not match the API: ${z.prettifyError(read.error)}` });
    } catch (thrown) {
      const { status, reason } = problemOf(thrown);
      return Either.left({ status, reason: withoutSecrets(reason, secretsOf(transport)) });
    }
  };

/** Makes the problem of a request that is not sent. */
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

export const base: readonly string[] = ["_plugins", "_ml", "memory"];

/** A field that may be missing, null or blank; null and blank count as missing. */
export const text = z
  .string()
  .nullish()
  .transform((given) => (given == null || given.trim() === "" ? undefined : given));

/** `additional_info` as an object with any values. */
export const infoObject = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((given) => infoOf(given ?? {}));

export const infoOf = (values: Readonly<Record<string, unknown>>): Info =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
    ]),
  );

/** The texts that messages of either API may have. */
export const messageFields = z.object({ input: text, prompt_template: text, response: text, origin: text });

export const draftOf = ({ input, prompt_template, response, origin }: z.infer<typeof messageFields>): MessageDraft => ({
  ...(input === undefined ? {} : { input }),
  ...(prompt_template === undefined ? {} : { promptTemplate: prompt_template }),
  ...(response === undefined ? {} : { response }),
  ...(origin === undefined ? {} : { origin }),
});

/** Returns the problem of an empty draft, which the service refuses or stores as an empty message; null for others. */
export const problemOfDraft = ({ input, promptTemplate, response, origin, info = {} }: MessageDraft) =>
  [input, promptTemplate, response, origin, ...Object.values(info)].every((field) => (field ?? "").trim() === "")
    ? refused("a message needs a text: give it an input, a response, a promptTemplate, an origin or info")
    : null;

/** Returns the body of a draft, without the parts that the two APIs write differently. */
export const bodyOf = ({ input, promptTemplate, response, origin }: MessageDraft): object => ({
  input,
  prompt_template: promptTemplate,
  response,
  origin,
});

/** Reads a page of a list, whose name is the member with the items. */
export const pageOf = async <Item>(
  send: Send,
  path: readonly string[],
  from: number,
  name: string,
  item: z.ZodType<Item>,
): Answer<MemoryPage<Item>> => {
  if (!(Number.isSafeInteger(from) && from >= 0))
    return refused(`a page cannot begin at ${from}: give a whole number ≥ 0`);
  const schema = z.object({
    [name]: z.array(item),
    // A token that does not advance would be read forever.
    next_token: z.int().gt(from).optional(),
  });
  const request: Request = { method: "GET", path, query: { max_results: pageSize, next_token: from } };
  return Either.map((read: Record<string, unknown>) => {
    // Typed by the schema, under the given name.
    const items = read[name] as readonly Item[];
    // Nothing follows an empty page, whatever its token.
    return { items, next: items.length === 0 ? null : ((read["next_token"] as number | undefined) ?? null) };
  })(await send(request, schema));
};

/**
 * Reads all messages of a memory, oldest first whatever the order of the pages, each once even if others write
 * meanwhile. Messages with equal times keep the order in which they arrive, which is the order of writing in every
 * version.
 */
export const allOf = async (
  page: (from: number) => Answer<MemoryPage<MemoryMessage>>,
): Promise<Either.Either<MemoryProblem, readonly MemoryMessage[]>> => {
  const found = new Map<string, MemoryMessage>();
  for (let from: number | null = 0; from !== null;) {
    const read: Awaited<ReturnType<typeof page>> = await page(from);
    if (Either.isLeft(read)) return read;
    for (const message of read.right.items) if (!found.has(message.id)) found.set(message.id, message);
    from = read.right.next;
  }
  return Either.right(
    [...found.values()].toSorted((left, right) => Date.parse(left.createdAt) - Date.parse(right.createdAt)),
  );
};

const pageSize = 100;
