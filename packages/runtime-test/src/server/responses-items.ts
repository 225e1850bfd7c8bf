import type { JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** Items that a server keeps for a client, by their ids. */
export interface KeptItems {
  readonly get: (id: string) => JsonObject | undefined;
}

/**
 * Returns the items of an input, with references replaced by the kept items; or the error of the real server. It
 * refuses an unknown type or field, and reasoning of which it kept nothing or whose following item is missing. It also
 * refuses calls and outputs that do not match.
 */
export const readItems = (
  items: readonly JsonObject[],
  kept: KeptItems,
): Either.Either<WireError, readonly JsonObject[]> => {
  const read: JsonObject[] = [];
  for (const [index, item] of items.entries()) {
    const problem = problemOfItem(item, index, kept);
    if (problem !== null) return Either.left(problem);
    const named = item["type"] === "item_reference" ? kept.get(textOf(item, "id")) : undefined;
    read.push(named ?? item);
  }
  const problem = problemOfCalls(read) ?? problemOfReasoning(read);
  return problem === null ? Either.right(read) : Either.left(problem);
};

const problemOfItem = (item: JsonObject, index: number, kept: KeptItems): WireError | null => {
  const at = `input[${index}]`;
  const type = typeof item["type"] === "string" ? item["type"] : "message";
  const known = fieldsOf.get(type);
  if (known === undefined) {
    const supported = Array.from(fieldsOf.keys(), (name) => `'${name}'`).join(", ");
    return invalidRequest(
      `Invalid value: '${type}'. Supported values are: ${supported}.`,
      `${at}.type`,
      "invalid_value",
    );
  }
  const unknown = Object.keys(item).find((name) => !known.all.includes(name));
  if (unknown !== undefined) {
    return invalidRequest(`Unknown parameter: '${at}.${unknown}'.`, `${at}.${unknown}`, "unknown_parameter");
  }
  const missing = known.required.find((name) => item[name] === undefined);
  if (missing !== undefined) {
    return invalidRequest(
      `Missing required parameter: '${at}.${missing}'.`,
      `${at}.${missing}`,
      "missing_required_parameter",
    );
  }
  const unread = type === "reasoning" && (item["encrypted_content"] ?? "") === "";
  if ((unread || type === "item_reference") && kept.get(textOf(item, "id")) === undefined) {
    return notFound(textOf(item, "id"));
  }
  return null;
};

interface Fields {
  readonly required: readonly string[];
  readonly all: readonly string[];
}

const fields = (required: readonly string[], optional: readonly string[] = []): Fields => ({
  required,
  all: ["type", ...required, ...optional],
});

/** The supported items, by their type. */
const fieldsOf: ReadonlyMap<string, Fields> = new Map([
  ["message", fields(["role", "content"], ["id", "status", "phase"])],
  ["function_call", fields(["call_id", "name", "arguments"], ["id", "status", "namespace", "caller"])],
  ["function_call_output", fields(["call_id", "output"], ["id", "status", "caller"])],
  ["custom_tool_call", fields(["call_id", "name", "input"], ["id", "status", "namespace", "caller"])],
  ["custom_tool_call_output", fields(["call_id", "output"], ["id", "status", "caller"])],
  ["reasoning", fields(["summary"], ["id", "content", "encrypted_content", "status"])],
  ["item_reference", fields(["id"])],
]);

const notFound = (id: string): WireError => ({
  ...invalidRequest(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    "input",
  ),
  status: 404,
});

const problemOfCalls = (items: readonly JsonObject[]): WireError | null => {
  const open = new Map<string, string>();
  for (const item of items) {
    const type = textOf(item, "type");
    const id = textOf(item, "call_id");
    const what = type.startsWith("custom") ? "custom tool call" : "function call";
    if (type.endsWith("_call_output") && !open.delete(id)) {
      return invalidRequest(`No tool call found for ${what} output with call_id ${id}.`, "input");
    }
    if (type.endsWith("_call")) open.set(id, what);
  }
  const [unanswered] = open;
  return unanswered === undefined
    ? null
    : invalidRequest(`No tool output found for ${unanswered[1]} ${unanswered[0]}.`, "input");
};

const problemOfReasoning = (items: readonly JsonObject[]): WireError | null => {
  const alone = items.find((item, index) => item["type"] === "reasoning" && !isModels(items[index + 1]));
  return alone === undefined
    ? null
    : invalidRequest(
        `Item '${textOf(alone, "id")}' of type 'reasoning' was provided without its required following item.`,
        "input",
      );
};

/** Returns whether a model makes this kind of item. */
const isModels = (item: JsonObject | undefined): boolean =>
  item !== undefined &&
  (item["role"] === "assistant" || ["reasoning", "function_call", "custom_tool_call"].includes(textOf(item, "type")));

const textOf = (item: JsonObject, name: string): string => {
  const value = item[name];
  return typeof value === "string" ? value : "";
};
