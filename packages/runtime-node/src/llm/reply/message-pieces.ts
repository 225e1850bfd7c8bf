import type { Json, JsonObject } from "@colloquy/machine";
import { isObject, isText, listOf, textOf } from "../json/loose-json.ts";

/** Content that is neither a text nor parts is the JSON that was asked for: Cloudflare's servers parse it. */
export const contentOf = (content: Json | undefined): string | readonly JsonObject[] | null => {
  if (content === undefined || content === null || typeof content === "string") return content ?? null;
  const list = Array.isArray(content) ? listOf(content) : [content];
  const parts = list.map((part) => textPartOf(part) ?? part);
  const areParts = parts.every((part): part is JsonObject => isObject(part) && isText(part["type"]));
  return areParts ? parts : JSON.stringify(content);
};

/** The part of a text, which servers write as a text, without its type, or as the Responses API does. */
const textPartOf = (part: Json): JsonObject | null => {
  const { type = "output_text", text, ...others } = isObject(part) ? part : { text: part };
  const isAlone = type === "output_text" && Object.keys(others).every((name) => name === "annotations");
  return typeof text === "string" && isAlone ? { type: "text", text } : null;
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

/** The text of what a model thought: one, or a list of parts that have it. */
export const thoughtOf = (thinking: Json | undefined): string =>
  textOf(thinking) ||
  listOf(thinking)
    .map((part) => (isObject(part) ? textOf(part["text"] ?? part["summary"]) : ""))
    .join("");
