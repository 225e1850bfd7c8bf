import type { Content, Message, MessageDraft, Part, QueuedAsk, ReplyDraft, SeedDraft } from "@colloquy/machine";

/** The role and content of a message as text; equal for equal messages. */
export type Utterance = string;

/** Returns the exact content of a thread's message, without the ids that the thread gave it. */
export const utteranceOf = ({ role, parts }: Pick<Message, "role" | "parts">): Utterance =>
  `${role} ${JSON.stringify(parts.flatMap(withoutIds))}`;

export const ofAsk = (ask: QueuedAsk): readonly Utterance[] => draftsOfAsk(ask).map(ofDraft);

export const draftsOfAsk = ({ input, name, metadata }: QueuedAsk): readonly MessageDraft[] => {
  const drafts = typeof input === "string" ? null : input.filter((item) => "role" in item);
  if (drafts !== null && drafts.length === input.length) return drafts;
  // An input that is not a list of messages is a text or its parts.
  const content = input as Content;
  return [
    {
      role: "user",
      content,
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata }),
    },
  ];
};

/** Returns the utterance of a message draft from a host. */
export const ofDraft = ({ role, content }: MessageDraft): Utterance => utterance(role, partsOf(content));

export const ofSeed = (draft: SeedDraft): Utterance => {
  if (draft.role === "tool") return utterance("tool", partsOf(draft.content));
  return draft.role === "assistant" ? ofReply(draft) : ofDraft(draft);
};

export const ofReply = ({ content, toolCalls = [] }: Pick<ReplyDraft, "content" | "toolCalls">): Utterance =>
  utterance("assistant", [
    ...(typeof content === "string" ? partsOf(content) : (content ?? [])),
    ...toolCalls.map((call) => ({ type: "toolCall", name: call.name, arguments: call.arguments, id: call.id })),
  ]);

/** Returns the utterance of a reply that ended early, without its tool calls; none if it is empty. */
export const ofPartial = (partial: ReplyDraft | undefined): readonly Utterance[] => {
  if (partial === undefined) return [];
  const { content } = partial;
  return content === undefined || content.length === 0 ? [] : [ofReply({ content })];
};

const withoutIds = (part: Part): readonly object[] => {
  if (part.type === "toolResult") return part.content;
  if (part.type !== "toolCall") return [part];
  return [{ type: part.type, name: part.name, arguments: part.arguments, id: part.providerCallId }];
};

export const partsOf = (content: Content): readonly object[] => {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
};

/** Returns the utterance of a role and parts, with well-formed text, as a thread keeps them. */
export const utterance = (role: string, parts: readonly object[]): Utterance =>
  `${role} ${JSON.stringify(parts, (_, value: unknown) => repaired(value))}`;

const repaired = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), member]));
};
