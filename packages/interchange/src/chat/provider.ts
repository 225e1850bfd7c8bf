import type { Json, JsonObject } from "@colloquy/machine";
import type { WireMessage } from "./wire-message.ts";
import { isJsonObject } from "../exchange/json-object.ts";

/**
 * Returns the fields of a reply that Colloquy does not interpret and that must go back unchanged. The server that
 * sends such a field is known to take it back, and to miss it if it is absent:
 *
 * - `reasoning_details` (OpenRouter and gateways like it): signed and encrypted reasoning, wanted back unchanged
 * - `thinking_blocks` (LiteLLM): the same
 * - `extra_content` (Gemini): thought signatures
 * - `function_call`: a call in the form before tools, which the function's result refers to
 * - `audio`: a spoken answer, known by its id; the recording itself is not kept
 * - `prefix`, `partial` (Mistral, DeepSeek; Moonshot, Qwen): the reply is to be continued
 * - `cache_control` (Anthropic models behind a gateway): the end of the cached prefix
 *
 * Other fields are only informative (`annotations`, `provider_metadata`, log probabilities, an index) and are not sent
 * back, because strict servers answer 400 to unknown fields.
 */
export const replyProviderFromWire = (wire: WireMessage): JsonObject | undefined => {
  const { reasoning_details: details, thinking_blocks: blocks, function_call: call, audio } = wire;
  return presentOf({
    reasoning_details: nonEmptyList(details),
    thinking_blocks: nonEmptyList(blocks),
    extra_content: isJsonObject(wire["extra_content"]) ? wire["extra_content"] : undefined,
    function_call: isJsonObject(call) && Boolean(call["name"] ?? call["arguments"]) ? call : undefined,
    audio: isJsonObject(audio) ? spokenOf(audio) : undefined,
    prefix: wire["prefix"] === true ? true : undefined,
    partial: wire["partial"] === true ? true : undefined,
    cache_control: isJsonObject(wire["cache_control"]) ? wire["cache_control"] : undefined,
  });
};

/** Returns these fields of a message that no model wrote. */
export const providerFromWire = (wire: WireMessage): JsonObject | undefined =>
  presentOf({
    // A thread has no such role. As a user message the result keeps its place, and goes back under its own role.
    role: wire.role === "function" ? "function" : undefined,
    cache_control: isJsonObject(wire["cache_control"]) ? wire["cache_control"] : undefined,
  });

/** Returns the fields of a message's `provider` that are sent: only those listed above, and none of other APIs. */
export const providerToWire = (provider: JsonObject | undefined): JsonObject => {
  if (provider === undefined) return {};
  const wire: { [field: string]: Json } = {};
  for (const field of sentBack) {
    const value = provider[field];
    if (value !== undefined) wire[field] = field === "audio" && isJsonObject(value) ? { id: value["id"] } : value;
  }
  return wire;
};

const sentBack = [
  "role",
  "reasoning_details",
  "thinking_blocks",
  "extra_content",
  "function_call",
  "audio",
  "prefix",
  "partial",
  "cache_control",
] as const;

// A list in parsed JSON is a list of JSON.
const nonEmptyList = (value: unknown): Json | undefined =>
  Array.isArray(value) && value.length > 0 ? (value as Json) : undefined;

const spokenOf = ({ id, transcript }: JsonObject): JsonObject | undefined =>
  typeof id === "string" && id !== "" ? { id, ...(typeof transcript === "string" ? { transcript } : {}) } : undefined;

const presentOf = (fields: JsonObject): JsonObject | undefined => {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return present.length === 0 ? undefined : Object.fromEntries(present);
};
