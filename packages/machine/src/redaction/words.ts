import { redactedText } from "../conversation/update/redacted.ts";
import type { Json, JsonObject } from "../thread/json.ts";
import type { Content, ContentPart, MessageDraft, ReplyDraft, SystemDraft, ToolCallDraft } from "../thread/message.ts";
import type { SeedDraft } from "../thread/seed.ts";

/** What becomes of each member of an object; null where it goes. A member that is new has to be given a rule. */
export type Rules<Of> = {
  readonly [Member in keyof Of]-?: undefined extends Of[Member]
    ? ((value: Exclude<Of[Member], undefined>) => Of[Member]) | null
    : (value: Of[Member]) => Of[Member];
};

/** An object as its rules leave it. What they do not name goes: members that this version does not know. */
export const redactedBy =
  <Of extends object>(rules: Rules<Of>) =>
  (value: Of): Of => {
    const left: { [name: string]: unknown } = {};
    // Each rule takes the member of its name.
    for (const [name, rule] of Object.entries<((member: unknown) => unknown) | null>(rules as never)) {
      const member: unknown = value[name as keyof Of];
      if (rule !== null && member !== undefined) left[name] = rule(member);
    }
    // A member that may not be absent has a rule, by its type.
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

/** No text stays none: whether something was said is structure. */
export const redactText = (text: string): string => (text === "" ? "" : redactedText);

/** Of what a provider names: a name stays, a sentence does not. */
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
  // A message under `assistant` may be written either way; what a reply leaves out it may leave out too.
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
      // A model could make nothing of an image without its address.
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
