import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** The service's response to a request. */
export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers?: { readonly [name: string]: string };
}

export const accepted = (body: JsonObject): Answer => ({ status: 200, body });

/** Makes an error in OpenSearch's format; `details` are beside type and reason. */
export const refusal = (status: number, type: string, reason: string, details: JsonObject = {}): Answer => {
  const error = { type, reason, ...details };
  return { status, body: { error: { root_cause: [error], ...error }, status } };
};

export const badRequest = (reason: string): Answer => refusal(400, "illegal_argument_exception", reason);

export const parseFailure = (reason: string): Answer => refusal(400, "parse_exception", reason);

export const missing = (what: string): Answer => refusal(404, "resource_not_found_exception", `${what} not found`);

export const missingIndex = (index: string, reason: string = `no such index [${index}]`): Answer =>
  refusal(404, "index_not_found_exception", reason, { index, index_uuid: "_na_" });

/** Makes an error that a shard reports during a search. */
export const shardFailure = (index: string, type: string, reason: string): Answer => {
  const cause = { type, reason };
  return {
    status: 400,
    body: {
      error: {
        root_cause: [cause],
        type: "search_phase_execution_exception",
        reason: "all shards failed",
        phase: "query",
        grouped: true,
        failed_shards: [{ shard: 0, index, node: "loopback", reason: cause }],
        caused_by: { ...cause, caused_by: cause },
      },
      status: 400,
    },
  };
};

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an object's own member, whatever its name. */
export const memberOf = <Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Returns a list; a single value becomes a list of one. */
export const listOf = (value: Json | undefined): readonly Json[] => {
  if (value === undefined) return [];
  // Arrays are the only JSON values that `Array.isArray` accepts.
  return Array.isArray(value) ? (value as readonly Json[]) : [value];
};

/** Converts a value to text. The service answers 500 for null, objects and lists. */
export const textOf = (value: Json): Either.Either<Answer, string> =>
  typeof value === "object"
    ? Either.left(refusal(500, "illegal_state_exception", `Can't get text on a ${tokenOf(value)}`))
    : Either.right(written(value));

/** Formats a value for a message: a text without quotes, any other as JSON. */
export const written = (value: Json | undefined): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** Converts an object's values to texts, including numbers and booleans. */
export const textsOf = (value: JsonObject): Either.Either<Answer, { readonly [name: string]: string }> => {
  const texts: (readonly [string, string])[] = [];
  for (const [name, member] of Object.entries(value)) {
    const text = textOf(member ?? null);
    if (Either.isLeft(text)) return text;
    texts.push([name, text.right]);
  }
  return Either.right(Object.fromEntries(texts));
};

const tokenOf = (value: JsonObject | readonly Json[] | null): string => {
  if (value === null) return "VALUE_NULL";
  return Array.isArray(value) ? "START_ARRAY" : "START_OBJECT";
};
