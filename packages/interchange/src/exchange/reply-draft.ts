import type { JsonObject, ContentPart, ReasoningPart, RefusalPart, ToolCallDraft, SeedReply } from "@colloquy/machine";

/** A part of a model's reply, apart from its calls. */
export type ReplyPart = ContentPart | ReasoningPart | RefusalPart;

/** The fields of a message beside its parts. */
export interface MessageFields {
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly provider?: JsonObject;
}

/** Creates the draft of a reply: a single text as a string, otherwise its parts; calls last. */
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

/** Returns the text of parts in a wire format if they are one plain text; undefined otherwise. */
export const onlyText = (
  [only, second]: readonly JsonObject[],
  types: readonly unknown[] = ["text"],
): string | undefined => {
  const { type, text, ...rest } = only ?? {};
  const isPlain = second === undefined && types.includes(type) && Object.keys(rest).length === 0;
  return isPlain && typeof text === "string" && text !== "" ? text : undefined;
};

/** Returns the text if the parts are one plain text; undefined otherwise. */
export const plainText = (parts: readonly ReplyPart[]): string | undefined => {
  const [only, second] = parts;
  if (only === undefined || second !== undefined || only.type !== "text" || only.text === "") return undefined;
  return "provider" in only ? undefined : only.text;
};
