import type { Json, JsonObject } from "@colloquy/machine";
import { isObject, isText, listOf, textOf } from "../json/loose-json.ts";
import { CallArguments } from "./tool-call-pieces.ts";

/** Content that is neither a text nor parts is the JSON that was asked for: Cloudflare's servers parse it. */
export const contentOf = (content: Json | undefined): string | readonly JsonObject[] | null => {
  if (content === undefined || content === null || typeof content === "string") return content ?? null;
  const list = Array.isArray(content) ? listOf(content) : [content];
  const parts = list.map((part) => (typeof part === "string" ? { type: "text", text: part } : part));
  const areParts = parts.every((part): part is JsonObject => isObject(part) && isText(part["type"]));
  return areParts ? parts : JSON.stringify(content);
};

/** An object that comes in pieces: some of its texts grow, an id or a name stays what it first was, others are as they were said last. */
export const joined = (
  before: Json | undefined,
  added: JsonObject,
  grows = (_member: string): boolean => true,
): JsonObject => {
  const object: { [member: string]: Json | undefined } = isObject(before) ? { ...before } : {};
  for (const [member, value] of Object.entries(added)) {
    const said = object[member];
    if (setOnce.has(member)) object[member] = isText(said) ? said : (value ?? said);
    else if (typeof value === "string" && typeof said === "string" && grows(member)) object[member] = said + value;
    else object[member] = value ?? said;
  }
  return object;
};

const setOnce: ReadonlySet<string> = new Set(["id", "name"]);

/**
 * Adds streamed `reasoning_details` to those that came before. Pieces of one text (or summary) become one detail,
 * with whatever the later pieces bring (a signature); encrypted ones stay as they are.
 */
export const joinedDetails = (before: readonly Json[], added: readonly Json[]): readonly Json[] => {
  const details = [...before];
  for (const detail of added) {
    const last = details.at(-1);
    if (isObject(last) && isObject(detail) && continues(last, detail))
      details[details.length - 1] = joined(last, detail, (member) => member === "text" || member === "summary");
    else details.push(detail);
  }
  return details;
};

const continues = (last: JsonObject, detail: JsonObject): boolean =>
  (detail["type"] === "reasoning.text" || detail["type"] === "reasoning.summary") &&
  last["type"] === detail["type"] &&
  last["index"] === detail["index"] &&
  (last["id"] ?? detail["id"] ?? null) === (detail["id"] ?? last["id"] ?? null);

/** A call of the time before `tool_calls`. */
export const withOneObject = (called: JsonObject): JsonObject => {
  const given = new CallArguments();
  given.add(textOf(called["arguments"]));
  return { ...called, arguments: given.text() };
};

/** The text of what a model thought: one, or a list of parts that have it. */
export const thoughtOf = (thinking: Json | undefined): string =>
  textOf(thinking) ||
  listOf(thinking)
    .map((part) => (isObject(part) ? textOf(part["text"] ?? part["summary"]) : ""))
    .join("");

/** What is not empty under `error` is one. */
export const isError = (value: Json | undefined): value is Json =>
  isObject(value) ? Object.keys(value).length > 0 : isText(value) || listOf(value).length > 0;

/** Some servers send an error in the middle without a wrapper: a chunk that answers nothing, and says what went wrong. */
export const isBareError = (chunk: JsonObject): boolean => {
  if ("choices" in chunk || "usage" in chunk) return false;
  if (chunk["object"] === "error" || isError(chunk["detail"])) return true;
  return isText(chunk["message"]) && ("code" in chunk || "type" in chunk);
};
