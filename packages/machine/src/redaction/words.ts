import { redactedText } from "../conversation/update/redacted.ts";
import type { Json, JsonObject } from "../thread/json.ts";
import type { Content, ContentPart, MessageDraft, ReplyDraft, SystemDraft, ToolCallDraft } from "../thread/message.ts";
import type { SeedDraft } from "../thread/seed.ts";

/** A rule for each member of an object; null removes the member. A new member needs a rule. */
export type Rules<Of> = {
  readonly [Member in keyof Of]-?: undefined extends Of[Member]
    ? ((value: Exclude<Of[Member], undefined>) => Of[Member]) | null
    : (value: Of[Member]) => Of[Member];
};

/** Applies rules to an object. It removes members without a rule, which this version does not know. */
export const redactedBy =
  <Of extends object>(rules: Rules<Of>) =>
  (value: Of): Of => {
    const left: { [name: string]: unknown } = {};
    // Each rule takes the member of its name.
    for (const [name, rule] of Object.entries<((member: unknown) => unknown) | null>(rules as never)) {
      const member: unknown = value[name as keyof Of];
      if (rule !== null && member !== undefined) left[name] = rule(member);
    }
    // By their type, the rules keep every required member.
    return left as Of;
  };

export const keep = <Value>(value: Value): Value => value;

export const empty = (): JsonObject => ({});

export const each =
  <Item>(rule: (item: Item) => Item) =>
  (list: readonly Item[]): readonly Item[] =>
    list.map((item) => rule(item));

export const orNull =
  <Value>(rule: (value: Value) => Value) =>
  (value: Value | null): Value | null =>
    value === null ? null : rule(value);

/** Redacts a text. An empty text stays empty, since that is part of the structure. */
export const redactText = (text: string): string => (text === "" ? "" : redactedText);

/** Redacts a provider's value unless it looks like a name. A sentence is redacted. */
export const redactUnlessName = (text: string): string => (/^[\w.:-]{0,64}$/.test(text) ? text : redactedText);

export const redactContent = (content: Content): Content =>
  typeof content === "string" ? redactText(content) : content.map(redactPart);

export const redactMessage = redactedBy<MessageDraft>({
  role: keep,
  content: redactContent,
  name: null,
  metadata: null,
  provider: null,
});

export const redactSystem = (system: SystemDraft): SystemDraft =>
  typeof system === "string" ? redactText(system) : { role: system.role, content: redactContent(system.content) };

export const redactSeed = (draft: SeedDraft): SeedDraft => {
  if (draft.role === "tool")
    return { role: "tool", toolCallId: draft.toolCallId, content: redactContent(draft.content) };
  // A message under `assistant` may have either form. The reply rules cover both.
  return draft.role === "assistant" ? { role: "assistant", ...redactReply(draft) } : redactMessage(draft);
};

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
      // A model could not use an image without its address.
      return { type: "text", text: redactedText };
  }
};

const redactValue = (value: Json): Json => (value === null || value === "" ? value : redactedText);

export const redactReply = redactedBy<ReplyDraft>({
  content: (content) => (typeof content === "string" ? redactText(content) : content.map(redactReplyPart)),
  toolCalls: each(redactedBy<ToolCallDraft>({ id: keep, name: keep, arguments: () => "{}", provider: null })),
  name: null,
  provider: null,
});
