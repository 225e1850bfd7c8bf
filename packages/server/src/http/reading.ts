import type { z } from "zod";
import { HttpError } from "./http-error.ts";

/** The body of a request as JSON, by a schema. Nothing behind the limit is read. @throws HttpError 400, 413 or 415 */
export const bodyOf = async <Body>(request: Request, schema: z.ZodType<Body>, bytesMax: number): Promise<Body> => {
  const text = await textOf(request, bytesMax);
  if (text !== "" && !/^application\/(?:[\w.-]+\+)?json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new HttpError(415, "the body must be JSON, with content-type: application/json");
  return parsedBy(schema, jsonOf(text), "the body");
};

/** What stands behind `?`, by a schema. @throws HttpError 400 */
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
  const param = issue === undefined ? "" : paramOf(issue.path);
  throw new HttpError(400, `${param === "" ? all : param}: ${issue?.message ?? "invalid"}`, {
    param: param === "" ? null : param,
  });
};

const textOf = async (request: Request, bytesMax: number): Promise<string> => {
  const tooLarge = new HttpError(413, `the body is larger than ${bytesMax} bytes, and no more are read`, {
    // What is left of it is not read, so the connection is of no more use.
    headers: { connection: "close" },
  });
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge;
  if (request.body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let text = "";
  let bytes = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes += next.value.byteLength;
      if (bytes > bytesMax) throw tooLarge;
      text += decoder.decode(next.value, { stream: true });
    }
    return text + decoder.decode();
  } catch (thrown) {
    // Not waited for: it is over either way.
    void reader.cancel().catch(() => {});
    if (thrown instanceof HttpError) throw thrown;
    throw new HttpError(400, "the body broke off, or is no UTF-8");
  }
};

const jsonOf = (text: string): unknown => {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "the body is no JSON");
  }
};

/** A path as OpenAI's errors name it: `input[0].content`. */
const paramOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (all, part) =>
      typeof part === "number" ? `${all}[${part}]` : all === "" ? String(part) : `${all}.${String(part)}`,
    "",
  );
