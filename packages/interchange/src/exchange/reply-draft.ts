import type { JsonObject, ContentPart, ReasoningPart, RefusalPart, ToolCallDraft, SeedReply } from "@colloquy/machine";

/** A part of what a model said, apart from its calls. */
export type ReplyPart = ContentPart | ReasoningPart | RefusalPart;

/** What a message has beside its parts. */
export interface MessageFields {
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly provider?: JsonObject;
}

/** The draft of a reply: a single text as it stands, else its parts; calls last. */
export const replyDraft = (
  parts: readonly ReplyPart[],
  calls: readonly ToolCallDraft[],
  fields: MessageFields,
): SeedReply & MessageFields => ({
  role: "assistant",
  ...(parts.length === 0 ? {} : { content: plainText(parts) ?? parts }),
  ...(calls.length === 0 ? {} : { toolCalls: calls }),
  ...fields,
});

/** The text, where a single one is all there is; undefined otherwise. */
export const plainText = (parts: readonly ReplyPart[]): string | undefined => {
  const [only, second] = parts;
  if (only === undefined || second !== undefined || only.type !== "text" || only.text === "") return undefined;
  return "provider" in only ? undefined : only.text;
};
