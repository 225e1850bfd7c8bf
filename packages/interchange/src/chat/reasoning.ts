import type { JsonObject, Part, ReasoningPart } from "@colloquy/machine";
import type { WireMessage } from "./wire-message.ts";
import { isJsonObject } from "../exchange/json-object.ts";

/**
 * Reads the reasoning in a reply's own fields. If a server writes the same text under two names, it becomes one part;
 * `provider.fields` lists the names.
 */
export const reasoningFromWire = (wire: WireMessage): readonly ReasoningPart[] => {
  const parts: ReasoningPart[] = [];
  const fieldsByText = new Map<string, string[]>();
  for (const field of reasoningFields) {
    const text = wire[field];
    if (typeof text === "string" && (text !== "" || isOwedEmpty(wire, field))) {
      fieldsByText.set(text, [...(fieldsByText.get(text) ?? []), field]);
    }
  }
  for (const [text, fields] of fieldsByText) parts.push({ type: "reasoning", text, provider: { fields } });
  return parts.length > 0 ? parts : partOfDetails(wire["reasoning_details"]);
};

/**
 * Returns the fields in which reasoning goes back, under its original names.
 *
 * It goes back only in messages with tool calls. There DeepSeek, Kimi and GLM answer 400 without it, even if it is
 * empty, and gpt-oss loses its line of thought. For a plain answer no server requires it, and older DeepSeek models
 * answer 400 to it. It would also be paid for in each later call. If `reasoning_details` came too, that list is enough
 * and holds more: OpenRouter and the gateways like it want it unchanged.
 */
export const reasoningToWire = (parts: readonly Part[], hasToolCalls: boolean, hasDetails: boolean): JsonObject => {
  const wire: { [field: string]: string } = {};
  if (!hasToolCalls || hasDetails) return wire;
  for (const part of parts) {
    const fields = part.type === "reasoning" ? part.provider?.["fields"] : undefined;
    if (part.type !== "reasoning" || !Array.isArray(fields)) continue;
    for (const field of reasoningFields) if (fields.includes(field)) wire[field] = part.text;
  }
  return wire;
};

const reasoningFields = ["reasoning_content", "reasoning", "thinking"] as const;

/** Returns whether an empty `reasoning_content` must go back, because it came with tool calls (see above). */
const isOwedEmpty = (wire: WireMessage, field: string): boolean =>
  field === "reasoning_content" && (wire.tool_calls?.length ?? 0) > 0;

const partOfDetails = (details: unknown): readonly ReasoningPart[] => {
  if (!Array.isArray(details)) return [];
  const text = details.map((detail: unknown) => (isJsonObject(detail) ? textOfDetail(detail) : "")).join("");
  return text === "" ? [] : [{ type: "reasoning", text }];
};

const textOfDetail = (detail: JsonObject): string => {
  const text = detail["text"] ?? detail["summary"];
  return typeof text === "string" ? text : "";
};
