import type { Json, JsonObject } from "@colloquy/machine";

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

export const unparsable = (reason: string): Answer => refusal(400, "parsing_exception", reason);

export const noBody: Answer = refusal(400, "parse_exception", "request body is required");

export const missing = (what: string): Answer => refusal(404, "resource_not_found_exception", `${what} not found`);

export const missingIndex = (index: string, reason: string = `no such index [${index}]`): Answer =>
  refusal(404, "index_not_found_exception", reason, { index, index_uuid: "_na_" });

/** Makes an error that a shard reports during a search. */
export const shardFailure = (index: string, type: string, reason: string): Answer => {
  const cause = { type, reason };
  return refusal(400, "search_phase_execution_exception", "all shards failed", {
    root_cause: [cause],
    phase: "query",
    grouped: true,
    failed_shards: [{ shard: 0, index, node: "loopback", reason: cause }],
    caused_by: { ...cause, caused_by: cause },
  });
};

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an object's own member, whatever its name. */
export const memberOf = <Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Formats a value as text: a text without quotes, any other as JSON. */
export const written = (value: Json | undefined): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "");

/** Returns the error about a value that the service cannot convert to text: null, an object or a list. */
export const problemOfTexts = (values: readonly (Json | undefined)[]): Answer | null => {
  const odd = values.find((value) => typeof value === "object");
  if (odd === undefined) return null;
  const token = odd === null ? "VALUE_NULL" : Array.isArray(odd) ? "START_ARRAY" : "START_OBJECT";
  return refusal(500, "illegal_state_exception", `Can't get text on a ${token}`);
};
