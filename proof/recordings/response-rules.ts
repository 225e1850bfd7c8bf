import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "@colloquy/machine";
import type { RecordedExchange } from "@colloquy/runtime-test/recordings";

/**
 * Returns how an exchange over the Responses API contradicts itself; null if it does not. A response repeats the
 * parameters that it was asked with, and a stream numbers its events.
 */
export const exchangeProblem = ({ request, response }: RecordedExchange): string | null => {
  const { status, body, sse } = response;
  const events = sse === undefined ? [] : eventsIn(sse);
  const answer =
    sse === undefined ? objectOf(body) : objectOf(events.findLast((event) => "response" in event)?.["response"]);
  if (answer === null) return null;
  if (status >= 400 && "output" in answer) return `status ${status} needs an error, but the body is a response`;
  if ((answer["status"] === "completed" || answer["status"] === "complete") && (answer["error"] ?? null) !== null)
    return "the response is completed, but has an error";
  const failure = events.find(({ type, error }) => type === "error" || (error ?? null) !== null);
  if (failure !== undefined && answer["status"] === "completed")
    return "the stream has an error, but its response is completed";
  const gap = events.findIndex(({ sequence_number: number }, place) => number !== undefined && number !== place);
  if (gap >= 0) return `event ${gap} of the stream has the number ${glimpse(events[gap]?.["sequence_number"])}`;
  if (events.length > 0 && !endings.has(events.at(-1)?.["type"]))
    return `the stream ends with ${glimpse(events.at(-1)?.["type"])}`;
  return echoProblem(request.body, answer);
};

const endings: ReadonlySet<Json | undefined> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
  "error",
]);

const echoProblem = (asked: JsonObject, answer: JsonObject): string | null => {
  const field = echoed.find(
    (name) =>
      (asked[name] ?? null) !== null && answer[name] !== undefined && !isDeepStrictEqual(asked[name], answer[name]),
  );
  if (field !== undefined)
    return `${field}: asked ${glimpse(asked[field])}, the response has ${glimpse(answer[field])}`;
  const offered = functionsIn(asked["tools"]);
  const known = functionsIn(answer["tools"]);
  const other =
    answer["tools"] === undefined ? undefined : offered.find((tool) => !known.some((each) => isWithin(tool, each)));
  return other === undefined ? null : `tool ${glimpse(other["name"])} is not one of those that the response has`;
};

/** Parameters that a response repeats unchanged. */
const echoed = [
  "instructions",
  "max_output_tokens",
  "previous_response_id",
  "store",
  "temperature",
  "tool_choice",
  "top_p",
] as const;

/** Returns the functions among tools, also those in a server's namespaces. */
const functionsIn = (tools: Json | undefined): readonly JsonObject[] =>
  (Array.isArray(tools) ? (tools as readonly Json[]) : []).flatMap((tool) => {
    const object = objectOf(tool) ?? {};
    return object["type"] === "function" ? [object] : functionsIn(object["tools"]);
  });

/** Checks that a response repeats all of a request's value. A strict server adds members, and requires all. */
const isWithin = (asked: Json | undefined, known: Json | undefined): boolean => {
  const [left, right] = [objectOf(asked), objectOf(known)];
  if (left === null || right === null) return (asked ?? "") === "" || isDeepStrictEqual(asked, known);
  return Object.keys(left).every((member) => unechoed.has(member) || isWithin(left[member], right[member]));
};

const unechoed: ReadonlySet<string> = new Set(["additionalProperties", "required", "strict", "defer_loading", "title"]);

const eventsIn = (sse: string): readonly JsonObject[] =>
  sse.split(/\r?\n/).flatMap((line) => {
    try {
      return [objectOf(JSON.parse(line.replace(/^data: ?/, "")) as Json) ?? {}].filter((event) => "type" in event);
    } catch {
      return [];
    }
  });

const objectOf = (value: Json | undefined): JsonObject | null =>
  // JSON that is not null, a list or a scalar is an object.
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;

export const glimpse = (value: Json | undefined): string => JSON.stringify(value ?? null).slice(0, 120);
