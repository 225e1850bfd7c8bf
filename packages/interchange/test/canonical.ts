import type { Json, JsonObject } from "@colloquy/machine";
import { isJsonObject } from "../src/exchange/json.ts";

/**
 * Removes differences between clients from a chat message, as the recordings do to compare: content null, "", [] and
 * absent are equal, texts in parts are joined, reasoning and refusals are left out.
 */
export const canonical = (message: JsonObject): JsonObject => {
  const { role, content, tool_calls: calls, function_call: called, tool_call_id: id, name } = message;
  return {
    role,
    content: canonicalContent(content),
    ...(Array.isArray(calls) && calls.length > 0 ? { tool_calls: calls.map(canonicalCall) } : {}),
    ...(isJsonObject(called) && (called["name"] || called["arguments"])
      ? { function_call: { name: called["name"], arguments: called["arguments"] } }
      : {}),
    ...(id === undefined || id === null ? {} : { tool_call_id: id }),
    ...(name && role !== "tool" ? { name } : {}),
  };
};

const canonicalContent = (content: Json | undefined): Json => {
  if (content === undefined || content === null || content === "") return null;
  if (typeof content === "string" || !Array.isArray(content)) return content;
  const parts: readonly Json[] = content;
  const texts = parts.map((part) => (isJsonObject(part) && part["type"] === "text" ? part["text"] : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("") || null : parts;
};

const canonicalCall = (call: Json): Json => {
  if (!isJsonObject(call) || !("function" in call || "custom" in call)) return call;
  const called = call["function"] ?? call["custom"];
  const { name, arguments: given, input } = isJsonObject(called) ? called : {};
  const value = given ?? input;
  return {
    id: call["id"] ?? null,
    name: name ?? null,
    arguments: typeof value === "string" ? value : JSON.stringify(value ?? null),
  };
};
