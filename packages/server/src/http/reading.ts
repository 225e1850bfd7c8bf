import type { z } from "zod";
import { HttpError, invalid } from "./http-error.ts";

/** Reads the body of a request as JSON, by a schema. Stops reading at the limit. @throws HttpError 400, 413 or 415 */
export const bodyOf = async <Body>(request: Request, schema: z.ZodType<Body>, bytesMax: number): Promise<Body> => {
  const text = await textOf(request, bytesMax);
  if (text !== "" && !/^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new HttpError(415, "the body must be JSON, with content-type: application/json");
  return parsedBy(schema, jsonOf(text), "the body");
};

/** Reads the query string, by a schema; `name[]` is a list. @throws HttpError 400 */
export const queryOf = <Query>(url: URL, schema: z.ZodType<Query>): Query => {
  const given = new Map<string, string | readonly string[]>();
  for (const [name, value] of url.searchParams) {
    const list = /^(.+)\[\d*\]$/.exec(name)?.[1];
    if (list === undefined) given.set(name, value);
    else given.set(list, [...[given.get(list) ?? []].flat(), value]);
  }
  return parsedBy(schema, Object.fromEntries(given), "the query");
};

const parsedBy = <Value>(schema: z.ZodType<Value>, given: unknown, all: string): Value => {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const param = paramOf([...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])]);
  const problem = unknown === undefined ? (issue?.message ?? "invalid") : `${all} has no such member; leave it out`;
  throw invalid(`${param === "" ? all : param}: ${problem}`, param === "" ? null : param);
};

const textOf = async (request: Request, bytesMax: number): Promise<string> => {
  const chunks = await chunksOf(request, bytesMax).catch((thrown: unknown) => {
    throw thrown instanceof HttpError ? thrown : invalid("the body broke off");
  });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    throw invalid("the body is no UTF-8");
  }
};

const chunksOf = async (request: Request, bytesMax: number): Promise<readonly Uint8Array[]> => {
  const check = (bytes: number): void => {
    if (bytes <= bytesMax) return;
    throw new HttpError(413, `the body is larger than ${bytesMax} bytes, and no more are read`, {
      // The rest of the body is not read, so the connection cannot be reused.
      headers: { connection: "close" },
    });
  };
  const length = request.headers.get("content-length");
  check(Number(length ?? 0));
  if (length !== null) {
    // The body has no more bytes than the header says. Reading it at once needs no stream, which would live as long as
    // the response.
    const all = new Uint8Array(await request.arrayBuffer());
    check(all.byteLength);
    return [all];
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // A body yields bytes, though its type does not say so.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array> | readonly Uint8Array[]) {
    bytes += chunk.byteLength;
    // Throwing out of the loop cancels the rest of the body.
    check(bytes);
    chunks.push(chunk);
  }
  return chunks;
};

const jsonOf = (text: string): unknown => {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("the body is not JSON");
  }
};

/** Formats a path as OpenAI's errors name it: `input[0].content`. */
const paramOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (all, part) =>
      typeof part === "number" ? `${all}[${part}]` : all === "" ? String(part) : `${all}.${String(part)}`,
    "",
  );
