import type {
  Content,
  ContentPart,
  DataPart,
  ImagePart,
  MessageDraft,
  OpaquePart,
  ReasoningPart,
  RefusalPart,
  ReplyDraft,
  SystemDraft,
  TextPart,
  ToolCallDraft,
} from "../../thread/message.ts";
import type { SeedDraft, SeedReply, SeedResult } from "../../thread/seed.ts";
import {
  byTag,
  json,
  jsonObject,
  keep,
  type Lasting,
  list,
  type Members,
  nullable,
  object,
  oneOf,
  optional,
  redactedText,
  replaced,
  tag,
  text,
  textOr,
  words,
} from "./form.ts";

const name = optional(text);
const metadata = optional(jsonObject);
const provider = optional(jsonObject);

/** A model could not use such a part without its value, so a text replaces it. */
const asText = <Of extends ContentPart>({ shape }: Lasting<Of>): Lasting<ContentPart> =>
  replaced<ContentPart>({ shape, redact: undefined }, { type: "text", text: redactedText });

const contentParts = {
  text: object<TextPart>({ type: tag("text"), text: words, provider }),
  data: object<DataPart>({
    type: tag("data"),
    field: keep(text),
    value: { shape: json.shape, redact: (value) => (value === null || value === "" ? value : redactedText) },
  }),
  image: asText(object<ImagePart>({ type: tag("image"), url: words, detail: optional(text) })),
  opaque: asText(object<OpaquePart>({ type: tag("opaque"), value: replaced(jsonObject, {}) })),
};

export const contentPart = byTag<ContentPart, "type">("type", contentParts);

export const replyParts = {
  ...contentParts,
  reasoning: object<ReasoningPart>({ type: tag("reasoning"), text: words, provider }),
  refusal: object<RefusalPart>({ type: tag("refusal"), text: words, provider }),
};

const replyPart = byTag<ContentPart | ReasoningPart | RefusalPart, "type">("type", replyParts);

export const content: Lasting<Content> = textOr(list(contentPart));

export const messageDraft = object<MessageDraft>({
  role: oneOf("system", "developer", "user", "assistant"),
  content,
  name,
  metadata,
  provider,
});

const toolCall = object<ToolCallDraft>({
  id: nullable(keep(text)),
  name: keep(text),
  arguments: replaced(text, "{}"),
  provider,
});

const replyMembers: Members<ReplyDraft> = {
  content: optional(textOr(list(replyPart))),
  toolCalls: optional(list(toolCall)),
  name,
  provider,
};

export const reply = object<ReplyDraft>(replyMembers);

export const seedDraft = byTag<SeedDraft, "role">("role", {
  tool: object<SeedResult>({ role: tag("tool"), toolCallId: nullable(keep(text)), content }),
  // An assistant's message may be a message or a reply. The form of a reply covers both.
  assistant: object<SeedReply>({ role: tag("assistant"), ...replyMembers, metadata }),
  system: messageDraft,
  developer: messageDraft,
  user: messageDraft,
});

export const systemDraft: Lasting<SystemDraft> = textOr(
  object<Exclude<SystemDraft, string>>({ role: oneOf("system", "developer"), content, name, provider }),
);
