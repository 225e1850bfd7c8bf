import { digestOfMessage } from "./digest.ts";
import { frozen, owned } from "./frozen.ts";
import type { JsonObject } from "./json.ts";
import { wellFormed } from "./well-formed-text.ts";
import type {
  Content,
  ContentPart,
  Message,
  MessageDraft,
  Part,
  ReasoningPart,
  RefusalPart,
  ReplyDraft,
  ToolCallPart,
  ToolOutcome,
  ToolResultPart,
} from "./message.ts";

/** Creates the message of a draft. */
export const messageFromDraft = (id: string, draft: MessageDraft): Message =>
  withDigest({ id, role: draft.role, parts: partsOf(draft.content), ...fieldsOf(draft) });

/** Returns the id of a tool call of a reply. */
export const callIdIn = (prefix: string, position: number): string => `${prefix}.${position}`;

/** Creates the assistant message of a reply; its calls are `prefix.0`, `prefix.1`, … */
export const messageFromReply = (id: string, prefix: string, reply: ReplyDraft): Message => {
  const parts: Part[] = [...replyParts(reply.content)];
  reply.toolCalls?.forEach((call, position) =>
    parts.push(
      Object.freeze({
        type: "toolCall",
        callId: callIdIn(prefix, position),
        providerCallId: call.id,
        name: call.name,
        arguments: call.arguments,
        ...(call.provider === undefined ? {} : { provider: owned(call.provider) }),
      }),
    ),
  );
  return withDigest({ id, role: "assistant", parts, ...fieldsOf(reply) });
};

/**
 * Creates the message of a reply that ended early, or returns null if nothing was shown. Its tool calls are left out,
 * since they may be incomplete.
 */
export const messageFromPartial = (id: string, partial: ReplyDraft | undefined | null): Message | null => {
  if (partial === undefined || partial === null) return null;
  const { toolCalls: _, ...said } = partial;
  const message = messageFromReply(id, id, said);
  return message.parts.length === 0 ? null : marked(message, { incomplete: true });
};

/** Adds new parts to the shown part of a reply. Adjacent texts of one kind are joined. */
export const joinPartials = (shown: ReplyDraft | null, added: ReplyDraft): ReplyDraft => {
  const parts: ReplyPart[] = [...replyParts(shown?.content)];
  for (const part of replyParts(added.content)) {
    const last = parts.at(-1);
    if (last !== undefined && goesOn(last) && goesOn(part) && last.type === part.type) {
      parts[parts.length - 1] = { ...last, text: last.text + part.text };
    } else parts.push(part);
  }
  return { ...shown, ...added, content: parts };
};

/** Creates the tool message that answers a call, with the id of the call. */
export const messageFromResult = (
  call: Pick<ToolCallPart, "callId" | "providerCallId" | "name">,
  outcome: ToolOutcome,
  content: Content | null,
): Message => {
  const result: ToolResultPart = Object.freeze({
    type: "toolResult",
    callId: call.callId,
    providerCallId: call.providerCallId,
    name: call.name,
    outcome,
    content: content === null ? noParts : partsOf(content),
  });
  return withDigest({ id: call.callId, role: "tool", parts: Object.freeze([result]) });
};

/** Returns the message with other parts and their digest. */
export const withParts = (message: Message, parts: readonly Part[]): Message =>
  withDigest(owned({ ...message, parts }));

/** Returns the message with marks that a model does not see. */
export const marked = (message: Message, marks: Partial<Pick<Message, Mark>>): Message =>
  frozen({ ...message, ...marks });

type Mark = "id" | "incomplete" | "synthesised" | "truncated";

type ReplyPart = ContentPart | ReasoningPart | RefusalPart;

const replyParts = (content: ReplyDraft["content"]): readonly ReplyPart[] =>
  typeof content === "string" ? partsOf(content) : owned(content ?? []);

const goesOn = (part: ReplyPart): part is Extract<ReplyPart, { readonly text: string }> =>
  "text" in part && !("provider" in part);

/**
 * Creates each message of a thread, and makes its text well-formed. Messages are immutable from here on. Its input is
 * plain data created or copied by this package.
 */
const withDigest = (given: Omit<Message, "digest">): Message => {
  const message = wellFormed(given);
  return frozen({ ...message, digest: digestOfMessage(message) });
};

const noParts: readonly never[] = Object.freeze([]);

const partsOf = (content: Content): readonly ContentPart[] =>
  typeof content === "string"
    ? content === ""
      ? noParts
      : Object.freeze([Object.freeze({ type: "text", text: content })])
    : owned(content);

const fieldsOf = (draft: {
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly provider?: JsonObject;
}): Pick<Message, "name" | "metadata" | "provider"> => ({
  ...(draft.name === undefined ? {} : { name: draft.name }),
  ...(draft.metadata === undefined ? {} : { metadata: owned(draft.metadata) }),
  ...(draft.provider === undefined ? {} : { provider: owned(draft.provider) }),
});
