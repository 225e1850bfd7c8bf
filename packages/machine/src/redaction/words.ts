import type { Json, JsonObject } from "../thread/json.ts";
import type { Content, ContentPart, MessageDraft, ReplyDraft, ToolCallDraft, SystemDraft } from "../thread/message.ts";
import type { SeedDraft } from "../thread/seed.ts";
import { redactedText } from "../conversation/update/redacted.ts";

// Drafts without their words. What is left is built from what is known of a draft, so that what is not goes too: names of
// people, metadata, provider fields, members that this version does not know.

/** No text stays none: whether something was said is structure. */
export const redactText = (text: string): string => (text === "" ? "" : redactedText);

/** Of what a provider names: a name stays, a sentence does not. */
export const redactUnlessName = (text: string): string => (/^[\w.:-]{0,64}$/.test(text) ? text : redactedText);

export const redactContent = (content: Content): Content =>
  typeof content === "string" ? redactText(content) : content.map(redactPart);

export const redactMessage = ({ role, content }: MessageDraft): MessageDraft => ({
  role,
  content: redactContent(content),
});

export const redactSystem = (system: SystemDraft): SystemDraft =>
  typeof system === "string" ? redactText(system) : { role: system.role, content: redactContent(system.content) };

export const redactSeed = (draft: SeedDraft): SeedDraft => {
  if (draft.role === "tool")
    return { role: "tool", toolCallId: draft.toolCallId, content: redactContent(draft.content) };
  // A message under `assistant` may be written either way; what a reply leaves out it may leave out too.
  return draft.role === "assistant" ? { role: "assistant", ...redactReply(draft) } : redactMessage(draft);
};

export const redactReply = ({ content, toolCalls }: ReplyDraft): ReplyDraft => ({
  ...(content === undefined
    ? {}
    : { content: typeof content === "string" ? redactText(content) : content.map(redactReplyPart) }),
  ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map(redactCall) }),
});

/** Empty metadata where there was some. */
export const redactMetadata = (metadata: JsonObject | undefined): { readonly metadata?: JsonObject } =>
  metadata === undefined ? {} : { metadata: {} };

type ReplyPart = Exclude<ReplyDraft["content"], string | undefined>[number];

const redactReplyPart = (part: ReplyPart): ReplyPart =>
  part.type === "reasoning" || part.type === "refusal"
    ? { type: part.type, text: redactText(part.text) }
    : redactPart(part);

const redactPart = (part: ContentPart): ContentPart => {
  switch (part.type) {
    case "text":
      return { type: "text", text: redactText(part.text) };
    case "data":
      return { type: "data", field: part.field, value: redactValue(part.value) };
    case "image":
    case "opaque":
      // A model could make nothing of an image without its address.
      return { type: "text", text: redactedText };
  }
};

const redactValue = (value: Json): Json => (value === null || value === "" ? value : redactedText);

const redactCall = ({ id, name }: ToolCallDraft): ToolCallDraft => ({ id, name, arguments: "{}" });
