import type { Json, JsonObject } from "@colloquy/machine";
import { CallArguments } from "./call-arguments.ts";
import { isObject, isText, listOf, textOf } from "./loose-json.ts";

/** Content that is neither a text nor parts is the JSON that was asked for: Cloudflare's servers parse it. */
export const contentOf = (content: Json | undefined): string | readonly JsonObject[] | null => {
  if (content === undefined || content === null || typeof content === "string") return content ?? null;
  const list = Array.isArray(content) ? listOf(content) : [content];
  const parts = list.map((part) => (typeof part === "string" ? { type: "text", text: part } : part));
  const areParts = parts.every((part): part is JsonObject => isObject(part) && isText(part["type"]));
  return areParts ? parts : JSON.stringify(content);
};

/** An object that comes in pieces: its texts grow, an id or a name stays what it first was, others are as they were said last. */
export const joined = (before: Json | undefined, added: JsonObject): JsonObject => {
  const object: { [member: string]: Json | undefined } = isObject(before) ? { ...before } : {};
  for (const [member, value] of Object.entries(added)) {
    const said = object[member];
    if (setOnce.has(member)) object[member] = isText(said) ? said : (value ?? said);
    else if (typeof value === "string" && typeof said === "string") object[member] = said + value;
    else object[member] = value ?? said;
  }
  return object;
};

/** A call of the time before `tool_calls`. */
export const withOneObject = (called: JsonObject): JsonObject => {
  const given = new CallArguments();
  given.add(textOf(called["arguments"]));
  return { ...called, arguments: given.text() };
};

const setOnce: ReadonlySet<string> = new Set(["id", "name"]);

export const detailsText = (details: Json | undefined): string =>
  details === undefined
    ? ""
    : listOf(details)
        .map((detail) => (isObject(detail) ? textOf(detail["text"] ?? detail["summary"]) : ""))
        .join("");

export const joinedTexts = (thinking: Json | undefined): string =>
  typeof thinking === "string"
    ? thinking
    : listOf(thinking)
        .map((part) => (isObject(part) ? textOf(part["text"]) : ""))
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
