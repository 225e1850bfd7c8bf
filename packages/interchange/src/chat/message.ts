import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, Message, ReplyDraft, SeedDraft } from "@colloquy/machine";
import { toolCallsOf, toolResultOf } from "@colloquy/machine";
import { type CallIds, derivedCallId } from "../exchange/call-ids.ts";
import { contentFromWire, contentToWire, replyContentFromWire } from "./content.ts";
import { excerpt } from "../exchange/json-object.ts";
import { type ChatMessage, parseWireMessage, type WireMessage } from "./wire-message.ts";
import { providerFromWire, providerToWire, replyProviderFromWire } from "./provider.ts";
import { reasoningFromWire, reasoningToWire } from "./reasoning.ts";
import { toolCallFromWire, toolCallToWire } from "./tool-calls.ts";

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
