import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";

/** Parses a value by a schema; Left with a description of the first mismatch. */
export const parseWith = <Value>(schema: z.ZodType<Value>, value: unknown): Either.Either<string, Value> => {
  const result = schema.safeParse(value);
  if (result.success) return Either.right(result.data);
  const issue = result.error.issues[0];
  return Either.left(`${issue?.path.join(".") || "the record"}: ${issue?.message ?? "it can't be read"}`);
};

/** Any value except undefined. JSON.parse returns JSON, and checking it again would take longer than a replay. */
export const anyJson: z.ZodType<Json> = z.custom<Json>((value) => value !== undefined, "it is missing");

/** An object whose members are not checked. */
export const anyObject: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "it is not an object",
);

/** Transforms an absent value to null. */
export const orNull = <Value>(value: Value | null | undefined): Value | null => value ?? null;

/** Transforms null to an absent value. */
export const orAbsent = <Value>(value: Value | null | undefined): Value | undefined => value ?? undefined;

/** The exact bytes of a streamed reply, and the expected result of decoding it. */
export interface RecordedStream {
  readonly id: string;
  readonly tags: readonly string[];
  readonly sse: string;
  readonly expect: {
    readonly choices: readonly {
      readonly index: number;
      readonly finish_reason: string | null;
      readonly message: JsonObject;
    }[];
    readonly usage: JsonObject | null;
  };
}

/** An error response, or a successful response that contains an error. */
export interface RecordedError {
  readonly id: string;
  readonly api?: string | undefined;
  /** The server that answered. */
  readonly host?: string | undefined;
  readonly response: ExchangeResponse;
}

/** A request for a reply, and its response. */
export interface RecordedExchange {
  readonly id: string;
  readonly source: string;
  readonly cassette: string;
  readonly index: number;
  readonly api?: string | undefined;
  /** The server that answered. */
  readonly host?: string | undefined;
  readonly request: { readonly body: JsonObject };
  readonly response: ExchangeResponse;
}

/** `body` is parsed JSON, or a text that is not JSON; a streamed response has `sse` instead. */
export interface ExchangeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body?: Json | undefined;
  readonly sse?: string | undefined;
}

export const parseStream = (value: unknown): Either.Either<string, RecordedStream> => parseWith(recordedStream, value);

export const parseError = (value: unknown): Either.Either<string, RecordedError> => parseWith(recordedError, value);

export const parseExchange = (value: unknown): Either.Either<string, RecordedExchange> =>
  parseWith(recordedExchange, value);

const response = z
  .object({
    status: z.number(),
    headers: z
      .record(z.string(), z.string().nullable())
      .nullish()
      .transform((headers) => headers ?? {}),
    body: anyJson.optional(),
    // A body that is not JSON.
    text: z.string().optional(),
    sse: z.string().optional(),
  })
  .transform(({ text, body = text, ...rest }) => ({ ...rest, body: body === "" ? undefined : body }));

const recordedStream = z.object({
  id: z.string(),
  tags: z.array(z.string()).default([]),
  sse: z.string(),
  expect: z.object({
    choices: z.array(
      z.object({
        index: z.number().default(0),
        finish_reason: z.string().nullish().transform(orNull),
        message: anyObject,
      }),
    ),
    usage: anyObject.nullish().transform(orNull),
  }),
});

const recordedError = z.object({ id: z.string(), api: z.string().optional(), host: z.string().optional(), response });

const recordedExchange = z.object({
  id: z.string(),
  source: z.string(),
  cassette: z.string(),
  index: z.number(),
  api: z.string().optional(),
  host: z.string().optional(),
  // A request without a JSON body is of another kind.
  request: z.object({ body: anyObject.catch({}) }),
  response,
});
