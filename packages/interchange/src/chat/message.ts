import * as Either from "fp-ts/lib/Either.js";
import {
  type JsonObject,
  type Message,
  type ReplyDraft,
  type SeedDraft,
  toolCallsOf,
  toolResultOf,
  type Part,
  type ReasoningPart,
  type Json,
  type ToolCallDraft,
  type ToolCallPart,
} from "@colloquy/machine";
import { type CallIds, derivedCallId } from "../exchange/call-ids.ts";
import { contentFromWire, contentToWire, replyContentFromWire } from "./content.ts";
import { excerpt, isJsonObject } from "../exchange/json-object.ts";
import { type ChatMessage, parseWireMessage, type WireMessage } from "./wire-message.ts";

export interface ChatMessageOptions {
  /**
   * The id of a call for which the provider sent none. `derived` (the default): an id derived from the call's own, so
   * that call and result match and the request is valid. `absent`: none, as it came.
   */
  readonly missingIds?: "derived" | "absent";
}

/**
 * Converts a message to the chat completions format, as far as that can hold it. Data parts become text (`field:
 * JSON`). Metadata and marks (incomplete, synthesised, truncated) are left out. Reasoning and provider fields are
 * included if servers want them back.
 */
export const toChatMessage = (message: Message, { missingIds = "derived" }: ChatMessageOptions = {}): ChatMessage =>
  chatMessageUnder(message, null, missingIds);

/** Converts a message with the ids that calls have in its conversation. */
export const chatMessageUnder = (
  message: Message,
  ids: CallIds | null,
  missingIds: "derived" | "absent",
): ChatMessage => {
  const idOnWire = (providerCallId: string | null, callId: string): string | null =>
    ids?.get(callId) ?? providerCallId ?? (missingIds === "absent" ? null : derivedCallId(callId));
  const result = toolResultOf(message);
  if (result !== undefined) {
    const id = idOnWire(result.providerCallId, result.callId);
    return {
      role: message.role,
      ...(id === null ? {} : { tool_call_id: id }),
      content: contentToWire(result.content) ?? "",
    };
  }
  const calls = toolCallsOf(message).map((call) => toolCallToWire(call, idOnWire(call.providerCallId, call.callId)));
  const refusal = refusalOf(message);
  const provider = providerToWire(message.provider);
  const called = calls.length > 0 || provider["function_call"] !== undefined || provider["audio"] !== undefined;
  return {
    role: message.role,
    // Servers disagree on an empty message: some refuse null unless another field replaces the content.
    content: contentToWire(message.parts) ?? (called ? null : ""),
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(refusal === "" ? {} : { refusal }),
    ...reasoningToWire(message.parts, calls.length > 0, provider["reasoning_details"] !== undefined),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...provider,
  };
};

/**
 * Reads a chat message as a draft, or returns why it is invalid. It accepts the variants of servers and clients:
 * content that is null, "", in parts, or (in replies) absent; arguments that are not a string; calls without an id;
 * roles including `function`. Unknown fields are kept if they must go back, otherwise left out. A single message does
 * not tell which call the result of an old function belongs to. It is read as a user message that goes back unchanged;
 * `fromChatMessages` reads it as a tool's.
 */
export const fromChatMessage = (wire: unknown): Either.Either<string, SeedDraft> =>
  Either.chain((message: WireMessage): Either.Either<string, SeedDraft> => {
    if (message.content === undefined && rolesWithContent.has(message.role))
      return Either.left(`a ${message.role} message without content; content must be a text or a list of parts`);
    switch (message.role) {
      case "assistant":
        return Either.right({ role: "assistant", ...replyOf(message) });
      case "tool":
        return Either.right({
          role: "tool",
          toolCallId: message.tool_call_id ?? null,
          content: contentFromWire(message.content),
        });
      case "system":
      case "developer":
      case "user":
        return Either.right({ role: message.role, ...draftOf(message) });
      case "function":
        return Either.right({ role: "user", ...draftOf(message) });
      default:
        return Either.left(
          `a chat message with the role ${excerpt(message.role ?? null)}; give one of system, developer, user, assistant, tool`,
        );
    }
  })(parseWireMessage(wire));

const rolesWithContent: ReadonlySet<unknown> = new Set(["system", "developer", "user", "tool", "function"]);

/** Reads an assistant message (`choices[0].message`) as a reply, or returns why it is invalid. Its role is ignored. */
export const replyFromChatMessage = (wire: unknown): Either.Either<string, ReplyDraft> =>
  Either.map(replyOf)(parseWireMessage(wire));

const draftOf = (
  message: WireMessage,
): { content: ReturnType<typeof contentFromWire>; name?: string; provider?: JsonObject } => {
  const provider = providerFromWire(message);
  return {
    content: contentFromWire(message.content),
    ...(message.name ? { name: message.name } : {}),
    ...(provider === undefined ? {} : { provider }),
  };
};

const replyOf = (message: WireMessage): ReplyDraft => {
  const content = [
    ...reasoningFromWire(message),
    ...replyContentFromWire(message.content),
    ...(message.refusal ? [{ type: "refusal" as const, text: message.refusal }] : []),
  ];
  const [first, second] = content;
  const toolCalls = (message.tool_calls ?? []).map(toolCallFromWire);
  const provider = replyProviderFromWire(message);
  return {
    ...(first === undefined ? {} : { content: second === undefined && isPlain(first) ? first.text : content }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(message.name ? { name: message.name } : {}),
    ...(provider === undefined ? {} : { provider }),
  };
};

const isPlain = (part: { readonly type: string }): part is { readonly type: "text"; readonly text: string } =>
  part.type === "text" && !("provider" in part);

const refusalOf = (message: Message): string =>
  message.parts.reduce(
    (text, part) => (part.type === "refusal" && !("provider" in part) ? text + part.text : text),
    "",
  );

/**
 * Reads the reasoning in a reply's own fields. If a server writes the same text under two names, it becomes one part;
 * `provider.fields` lists the names.
 */
const reasoningFromWire = (wire: WireMessage): readonly ReasoningPart[] => {
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
 * It goes back in messages with tool calls. There DeepSeek, Kimi and GLM answer 400 without it, even if it is empty,
 * and gpt-oss loses its line of thought. In a plain answer older DeepSeek models answer 400 to it, and it would be paid
 * for in each later call: only reasoning whose part says that it is `owed`, and in which field, goes back there. If
 * `reasoning_details` came too, that list is enough and holds more: OpenRouter and the gateways like it want it unchanged.
 */
const reasoningToWire = (parts: readonly Part[], hasToolCalls: boolean, hasDetails: boolean): JsonObject => {
  const wire: { [field: string]: string } = {};
  for (const part of parts) {
    if (part.type !== "reasoning") continue;
    const { fields, owed } = part.provider ?? {};
    if (typeof owed === "string") wire[owed] = part.text;
    if (!hasToolCalls || hasDetails || !Array.isArray(fields)) continue;
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
const replyProviderFromWire = (wire: WireMessage): JsonObject | undefined => {
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
const providerFromWire = (wire: WireMessage): JsonObject | undefined =>
  presentOf({
    // A thread has no such role. As a user message the result keeps its place, and goes back under its own role.
    role: wire.role === "function" ? "function" : undefined,
    cache_control: isJsonObject(wire["cache_control"]) ? wire["cache_control"] : undefined,
  });

/** Returns the fields of a message's `provider` that are sent: only those listed above, and none of other APIs. */
const providerToWire = (provider: JsonObject | undefined): JsonObject => {
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

/** Converts a tool call to the wire format, with the given id; null for none. */
const toolCallToWire = (call: ToolCallPart, id: string | null): JsonObject => {
  const provider = call.provider ?? {};
  if (isJsonObject(provider["call"])) return provider["call"];
  const fields = {
    ...(id === null ? {} : { id }),
    ...(provider["extra_content"] === undefined ? {} : { extra_content: provider["extra_content"] }),
  };
  return provider["type"] === "custom"
    ? { ...fields, type: "custom", custom: { name: call.name, input: call.arguments } }
    : { ...fields, type: "function", function: { name: call.name, arguments: call.arguments } };
};

/**
 * Reads a tool call: a function, a custom tool (whose input is a text), or a call of an unknown kind. A call of an
 * unknown kind is kept and goes back unchanged. `{id, name, arguments}` alone is read as a function too.
 */
const toolCallFromWire = (call: JsonObject): ToolCallDraft => {
  const { id, type, function: called, custom, extra_content: extra } = call;
  const provider = extra === undefined || extra === null ? {} : { extra_content: extra };
  if (isJsonObject(called)) return callDraftOf(id, called["name"], called["arguments"], provider);
  if (isJsonObject(custom)) return callDraftOf(id, custom["name"], custom["input"], { ...provider, type: "custom" });
  if (isFlat(call)) return callDraftOf(id, call["name"], call["arguments"], provider);
  return callDraftOf(id, call["name"] ?? type, call, { call });
};

const callDraftOf = (
  id: JsonObject[string],
  name: JsonObject[string],
  given: JsonObject[string],
  provider: JsonObject,
): ToolCallDraft => ({
  id: typeof id === "string" ? id : null,
  name: typeof name === "string" ? name : "",
  // Some servers parse the arguments. Absent arguments become the JSON text `null`.
  arguments: typeof given === "string" ? given : JSON.stringify(given ?? null),
  ...(Object.keys(provider).length === 0 ? {} : { provider }),
});

const isFlat = (call: JsonObject): boolean =>
  typeof call["name"] === "string" && Object.keys(call).every((key) => flatKeys.includes(key));

const flatKeys: readonly string[] = ["id", "name", "arguments"];
