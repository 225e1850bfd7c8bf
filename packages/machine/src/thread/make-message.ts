// Makes the messages of a thread from drafts and replies, with well-formed text and a digest.
import { exact, type Fresh, type JsonObject, type Json, frozen, owned } from "./plain-data.ts";
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
import type { ExpectedOutput } from "./turn.ts";

/** Creates the message of a draft. */
export const messageFromDraft = (id: string, draft: MessageDraft): Message =>
  made(id, draft.role, partsOf(wellFormed(draft.content)), draft);

/** Returns the id of a tool call of a reply. */
export const callIdIn = (prefix: string, position: number): string => `${prefix}.${position}`;

/** Creates the assistant message of a reply; its calls are `prefix.0`, `prefix.1`, … */
export const messageFromReply = (id: string, prefix: string, reply: ReplyDraft): Message => {
  const said = replyParts(wellFormed(reply.content));
  const calls = reply.toolCalls?.map((call, position): Part => {
    const part: Fresh<ToolCallPart> = {
      type: "toolCall",
      callId: wellFormed(callIdIn(prefix, position)),
      providerCallId: wellFormed(call.id),
      name: wellFormed(call.name),
      arguments: wellFormed(call.arguments),
    };
    if (call.provider !== undefined) part.provider = owned(wellFormed(call.provider));
    return Object.freeze(part);
  });
  const parts = calls === undefined ? said : exact([...said, ...calls]);
  return made(id, "assistant", parts, reply);
};

/** Creates the message of a reply that ended early; null if no text was shown. Drops its calls: they may be incomplete. */
export const messageFromPartial = (id: string, partial: ReplyDraft | undefined | null): Message | null => {
  if (partial === undefined || partial === null) return null;
  const { toolCalls: _, ...shown } = partial;
  const message = messageFromReply(id, id, shown);
  return message.parts.length === 0 ? null : marked(message, { incomplete: true });
};

/** Adds new parts to the shown part of a reply. Adjacent texts of one kind are joined. */
export const joinPartials = (shown: ReplyDraft | null, added: ReplyDraft): ReplyDraft => {
  const parts: ReplyPart[] = [...replyParts(shown?.content)];
  for (const part of replyParts(added.content)) {
    const last = parts.at(-1);
    if (last !== undefined && isJoinable(last) && isJoinable(part) && last.type === part.type) {
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
    callId: wellFormed(call.callId),
    providerCallId: wellFormed(call.providerCallId),
    name: wellFormed(call.name),
    outcome,
    content: content === null ? noParts : partsOf(wellFormed(content)),
  });
  return made(call.callId, "tool", Object.freeze([result]), {});
};

/** Returns the message with other parts and their digest. */
export const withParts = (message: Message, parts: readonly Part[]): Message => {
  const whole = owned(wellFormed({ ...message, parts }));
  return Object.freeze({ ...whole, digest: digestOfMessage(whole) });
};

/** Returns the message with marks that a model does not see. */
export const marked = (message: Message, marks: Partial<Pick<Message, Mark>>): Message =>
  frozen({ ...message, ...marks });

type Mark = "id" | "incomplete" | "synthesised" | "truncated";

type ReplyPart = ContentPart | ReasoningPart | RefusalPart;

const replyParts = (content: ReplyDraft["content"]): readonly ReplyPart[] =>
  typeof content === "string" ? partsOf(content) : owned(content ?? noParts);

const isJoinable = (part: ReplyPart): part is Extract<ReplyPart, { readonly text: string }> =>
  "text" in part && !("provider" in part);

/** Creates each message of a thread, frozen. The parts are owned and well-formed; the other fields are made so here. */
const made = (id: string, role: Message["role"], parts: readonly Part[], fields: Fields): Message => {
  const { name, metadata, provider } = fields;
  // Most messages have no other fields. To copy an object takes several times as long as to make it.
  if (name === undefined && metadata === undefined && provider === undefined)
    return Object.freeze({ id: wellFormed(id), role, parts, digest: digestOfMessage({ role, parts }) });
  const message: Fresh<Omit<Message, "digest">> = { id: wellFormed(id), role, parts };
  if (name !== undefined) message.name = wellFormed(name);
  if (metadata !== undefined) message.metadata = owned(wellFormed(metadata));
  if (provider !== undefined) message.provider = owned(wellFormed(provider));
  return Object.freeze({ ...message, digest: digestOfMessage(message) });
};

type Fields = Pick<MessageDraft, "name" | "metadata" | "provider">;

const noParts: readonly never[] = Object.freeze([]);

const partsOf = (content: Content): readonly ContentPart[] =>
  typeof content === "string"
    ? content === ""
      ? noParts
      : Object.freeze([Object.freeze({ type: "text", text: content })])
    : owned(content);

/**
 * Makes all texts of plain data well-formed: a lone surrogate is replaced by U+FFFD, since servers reject it.
 * Returns the same reference if nothing is replaced.
 */
export const wellFormed = <Value>(value: Value): Value =>
  // The repaired value has the type of the original.
  isWellFormed(value) ? value : (repaired(value) as Value);

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    // By index: frozen lists have slow iterators.
    for (let index = 0; index < list.length; index++) if (!isWellFormed(list[index])) return false;
    return true;
  }
  for (const name in value) if (!name.isWellFormed() || !isWellFormed(value[name as keyof typeof value])) return false;
  return true;
};

const repaired = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(repaired);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), repaired(member)]));
};

/**
 * Returns a short digest of a message as a model sees it: role, name, parts and provider fields, without its id and
 * metadata. Two different messages have the same digest only by accident (53 bits); it is not cryptographic.
 *
 * The mixing is that of cyrb53 (bryc, public domain), over UTF-16 code units.
 */
export const digestOfMessage = (message: Omit<Message, "digest" | "id">): string => {
  const mixer = new Mixer();
  mixer.add(message.role);
  mixer.add(message.name ?? "");
  addParts(mixer, message.parts);
  addProvider(mixer, message.provider);
  return mixer.digest();
};

/** Returns the digest of a prompt, computed from its messages' digests and the required output. */
export const digestOfPrompt = (messages: readonly Message[], output?: Omit<ExpectedOutput, "repairs">): string => {
  const digest = new PromptDigest();
  for (const message of messages) digest.add(message);
  return digest.of(output);
};

/** Computes the digest of a prompt that grows at its end. Each message is added once. */
export class PromptDigest {
  readonly #mixer = new Mixer();

  add(message: Message): void {
    this.#mixer.add(message.digest);
  }

  /** Returns the digest of the messages so far and the required output. More messages may be added afterwards. */
  of(output: Omit<ExpectedOutput, "repairs"> | undefined): string {
    if (output === undefined) return this.#mixer.digest();
    const mixer = this.#mixer.copy();
    mixer.add(canonicalText(output));
    return mixer.digest();
  }
}

/** Returns the digest of any JSON value, independent of the order of its keys. */
export const digestOf = (value: Json): string => {
  const mixer = new Mixer();
  mixer.add(canonicalText(value));
  return mixer.digest();
};

/**
 * Returns JSON with sorted keys, no spaces, and without absent members, so that equal values give equal texts. For
 * plain JSON data only.
 */
export const canonicalText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
  return `{${members.join(",")}}`;
};

const addPart = (mixer: Mixer, part: Part): void => {
  mixer.add(part.type);
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
      mixer.add(part.text);
      addProvider(mixer, part.provider);
      break;
    case "data":
      mixer.add(part.field);
      mixer.add(canonicalText(part.value));
      break;
    case "image":
      mixer.add(part.url);
      mixer.add(part.detail ?? "");
      break;
    case "opaque":
      mixer.add(canonicalText(part.value));
      break;
    case "toolCall":
      mixer.add(part.providerCallId ?? "");
      mixer.add(part.name);
      mixer.add(part.arguments);
      addProvider(mixer, part.provider);
      break;
    case "toolResult":
      mixer.add(part.providerCallId ?? "");
      mixer.add(String(part.content.length));
      addParts(mixer, part.content);
  }
};

const addParts = (mixer: Mixer, parts: readonly Part[]): void => {
  // By index: frozen lists have slow iterators.
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    if (part !== undefined) addPart(mixer, part);
  }
};

/** Adds absent fields too, so that the same fields on a message and on its last part give different digests. */
const addProvider = (mixer: Mixer, provider: JsonObject | undefined): void =>
  mixer.add(provider === undefined ? "" : canonicalText(provider));

/**
 * Mixes texts. Each text is followed by a mark that is not a UTF-16 unit, so that "ab", "c" differs from "a", "bc".
 * All numbers are signed 32-bit integers, which engines mix several times as fast as others.
 */
class Mixer {
  private high = 0xdeadbeef | 0;
  private low = 0x41c6ce57;

  add(text: string): void {
    let { high, low } = this;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, highFactor);
      low = Math.imul(low ^ unit, 1597334677);
    }
    this.high = Math.imul(high ^ endMark, highFactor);
    this.low = Math.imul(low ^ endMark, 1597334677);
  }

  copy(): Mixer {
    const copy = new Mixer();
    copy.high = this.high;
    copy.low = this.low;
    return copy;
  }

  digest(): string {
    const { high, low } = this;
    const first = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    const second = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(first ^ (first >>> 13), 3266489909);
    return inBase36(4294967296 * (2097151 & second) + (first >>> 0));
  }
}

/** Works as `toString(36)`, which is ten times slower beyond 31-bit integers. */
const inBase36 = (value: number): string => {
  const high = Math.floor(value / lowHalf);
  const low = (value - high * lowHalf).toString(36);
  return high === 0 ? low : high.toString(36) + low.padStart(5, "0");
};

/** Five digits in base 36. */
const lowHalf = 36 ** 5;

const endMark = 0x10000;
const highFactor = 2654435761 | 0;
