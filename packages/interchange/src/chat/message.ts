import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import {
  type JsonObject,
  type Message,
  type MessageDraft,
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
import { derivedCallId, type Round } from "../exchange/export.ts";
import { jsonObject } from "../exchange/import-problem.ts";
import { defined, excerpt, isEmpty, isJsonObject } from "../exchange/json.ts";
import { contentFromWire, contentToWire, replyContentFromWire } from "./content.ts";

/** A message of chat completions, loosely typed: the known fields, and any others. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly JsonObject[];
  readonly name?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly JsonObject[];
  readonly tool_call_id?: string;
  readonly [field: string]: Json | undefined;
}

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
  chatMessageUnder(message, new Map(), missingIds);

/** Converts a message with the ids that calls have in its conversation. */
export const chatMessageUnder = (
  message: Message,
  ids: Round["ids"],
  missingIds: "derived" | "absent",
): ChatMessage => {
  const idOnWire = ({ providerCallId, callId }: Pick<ToolCallPart, "providerCallId" | "callId">): string | undefined =>
    ids.get(callId) ?? providerCallId ?? (missingIds === "absent" ? undefined : derivedCallId(callId));
  const { role, parts, name } = message;
  const result = toolResultOf(message);
  if (result !== undefined)
    return { role, ...defined({ tool_call_id: idOnWire(result) }), content: contentToWire(result.content) ?? "" };
  const calls = toolCallsOf(message).map((call) => toolCallToWire(call, idOnWire(call)));
  const refusals = parts.flatMap((part) => (part.type === "refusal" && !("provider" in part) ? part.text : []));
  const provider = providerToWire(message.provider);
  const called = calls.length > 0 || provider["function_call"] !== undefined || provider["audio"] !== undefined;
  return {
    role,
    // Servers disagree on an empty message: some refuse null unless another field replaces the content.
    content: contentToWire(parts) ?? (called ? null : ""),
    ...defined({ name, refusal: refusals.join("") || undefined }),
    ...reasoningToWire(parts, calls.length > 0, provider["reasoning_details"] !== undefined),
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
    const { role, tool_call_id: toolCallId = null } = message;
    if (message.content === undefined && rolesWithContent.has(role))
      return Either.left(`a ${role} message without content; content must be a text or a list of parts`);
    switch (role) {
      case "assistant":
        return Either.right({ role, ...replyOf(message) });
      case "tool":
        return Either.right({ role, toolCallId, content: contentFromWire(message.content) });
      case "system":
      case "developer":
      case "user":
        return Either.right({ role, ...draftOf(message) });
      case "function":
        return Either.right({ role: "user", ...draftOf(message) });
      default:
        return Either.left(
          `a chat message with the role ${excerpt(role ?? null)}; give one of system, developer, user, assistant, tool`,
        );
    }
  })(parseWireMessage(wire));

const rolesWithContent: ReadonlySet<unknown> = new Set(["system", "developer", "user", "tool", "function"]);

/** Reads an assistant message (`choices[0].message`) as a reply, or returns why it is invalid. Its role is ignored. */
export const replyFromChatMessage = (wire: unknown): Either.Either<string, ReplyDraft> =>
  Either.map(replyOf)(parseWireMessage(wire));

/** The schema of the fields that are read. All are optional, since every server leaves out some. */
const wireMessage = z.looseObject({
  role: z.nullish(z.string()),
  content: z.nullish(z.union([z.string(), z.array(z.union([z.string(), jsonObject]))])),
  name: z.nullish(z.string()),
  refusal: z.nullish(z.string()),
  tool_calls: z.nullish(z.array(jsonObject)),
  tool_call_id: z.nullish(z.string()),
});

export type WireMessage = z.infer<typeof wireMessage>;

const parseWireMessage = (wire: unknown): Either.Either<string, WireMessage> => {
  const parsed = wireMessage.safeParse(wire);
  if (parsed.success) return Either.right(parsed.data);
  const where = parsed.error.issues[0]?.path.join(".") || "it";
  return Either.left(`not a chat message: ${where} is not as expected in ${excerpt(wire)}`);
};

const draftOf = (message: WireMessage): Omit<MessageDraft, "role"> => ({
  content: contentFromWire(message.content),
  ...fieldsOf(message, {
    // A thread has no such role. As a user message the result keeps its place, and goes back under its own role.
    role: message.role === "function" ? "function" : undefined,
    cache_control: objectIn(message["cache_control"]),
  }),
});

const replyOf = (message: WireMessage): ReplyDraft => {
  const content = [
    ...reasoningFromWire(message),
    ...replyContentFromWire(message.content),
    ...(message.refusal ? [{ type: "refusal" as const, text: message.refusal }] : []),
  ];
  const [first, second] = content;
  const toolCalls = (message.tool_calls ?? []).map(toolCallFromWire);
  const isPlain = second === undefined && first?.type === "text" && !("provider" in first);
  return {
    ...(content.length === 0 ? {} : { content: isPlain ? first.text : content }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...fieldsOf(
      message,
      Object.fromEntries(Object.entries(keptFields).map(([name, read]) => [name, read(message[name])])),
    ),
  };
};

/** Returns the name of a message and, as `provider`, the fields that go back unchanged. */
const fieldsOf = ({ name }: WireMessage, fields: JsonObject): Pick<ReplyDraft, "name" | "provider"> => {
  const provider = defined(fields);
  return { ...(name ? { name } : {}), ...(isEmpty(provider) ? {} : { provider }) };
};

/**
 * Reads the reasoning in a reply's own fields. If a server writes the same text under two names, it becomes one part;
 * `provider.fields` lists the names.
 */
const reasoningFromWire = (wire: WireMessage): readonly ReasoningPart[] => {
  const told = reasoningFields.flatMap((field) => {
    const text = wire[field];
    return typeof text === "string" && (text !== "" || isOwedEmpty(wire, field)) ? [{ field, text }] : [];
  });
  const parts = [...Map.groupBy(told, ({ text }) => text)].map(([text, same]): ReasoningPart => ({
    type: "reasoning",
    text,
    provider: { fields: same.map(({ field }) => field) },
  }));
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

/** The fields in which servers give reasoning. */
export const reasoningFields = ["reasoning_content", "reasoning", "thinking"] as const;

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

const objectIn = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

// A list in parsed JSON is a list of JSON.
const listIn = (value: unknown): Json | undefined =>
  Array.isArray(value) && value.length > 0 ? (value as Json) : undefined;

const markIn = (value: unknown): true | undefined => (value === true ? true : undefined);

/**
 * The fields of a reply that Colloquy does not interpret and that must go back unchanged, each with how it is read. The
 * server that sends such a field is known to take it back, and to miss it if it is absent.
 *
 * Other fields are only informative (`annotations`, `provider_metadata`, log probabilities, an index) and are not sent
 * back, because strict servers answer 400 to unknown fields.
 */
export const keptFields: { readonly [field: string]: (value: unknown) => Json | undefined } = {
  /** OpenRouter and gateways like it: signed and encrypted reasoning. */
  reasoning_details: listIn,
  /** LiteLLM: the same. */
  thinking_blocks: listIn,
  /** Gemini: thought signatures. */
  extra_content: objectIn,
  /** A call in the form before tools, which the function's result refers to. */
  function_call: (call) => (isJsonObject(call) && Boolean(call["name"] ?? call["arguments"]) ? call : undefined),
  /** A spoken answer, known by its id; the recording itself is not kept. */
  audio: (audio) => {
    const { id, transcript } = objectIn(audio) ?? {};
    if (typeof id !== "string" || id === "") return undefined;
    return { id, ...(typeof transcript === "string" ? { transcript } : {}) };
  },
  /** Mistral, DeepSeek (and `partial`, of Moonshot and Qwen): the reply is to be continued. */
  prefix: markIn,
  partial: markIn,
  /** Anthropic models behind a gateway: the end of the cached prefix. */
  cache_control: objectIn,
};

/** Returns the fields of a message's `provider` that are sent: only these, and none of other APIs. */
const providerToWire = (provider: JsonObject = {}): JsonObject => {
  const { role, audio } = provider;
  const sent = Object.fromEntries(Object.keys(keptFields).map((field) => [field, provider[field]]));
  return defined({ role, ...sent, audio: isJsonObject(audio) ? { id: audio["id"] } : audio });
};

/** Converts a tool call to the wire format, with the given id. */
const toolCallToWire = (
  { provider = {}, name, arguments: given }: ToolCallPart,
  id: string | undefined,
): JsonObject => {
  if (isJsonObject(provider["call"])) return provider["call"];
  const fields = defined({ id, extra_content: provider["extra_content"] });
  return provider["type"] === "custom"
    ? { ...fields, type: "custom", custom: { name, input: given } }
    : { ...fields, type: "function", function: { name, arguments: given } };
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
  ...(isEmpty(provider) ? {} : { provider }),
});

const isFlat = (call: JsonObject): boolean =>
  typeof call["name"] === "string" && Object.keys(call).every((key) => ["id", "name", "arguments"].includes(key));
