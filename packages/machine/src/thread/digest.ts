import type { Json, JsonObject } from "./json.ts";
import type { Message, Part } from "./message.ts";
import type { ExpectedOutput } from "./output.ts";

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
  for (const part of message.parts) addPart(mixer, part);
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
      for (const inner of part.content) addPart(mixer, inner);
  }
};

/**
 * Adds provider fields, also absent ones, so that those of a message and those of its last part give different
 * digests.
 */
const addProvider = (mixer: Mixer, provider: JsonObject | undefined): void =>
  mixer.add(provider === undefined ? "" : canonicalText(provider));

/**
 * Mixes texts. Each text is followed by a mark that is not a UTF-16 unit, so that the borders between texts matter.
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

/**
 * Works as `toString(36)`, which takes ten times as long for numbers beyond 31-bit integers. The two halves are within
 * them.
 */
const inBase36 = (value: number): string => {
  const high = Math.floor(value / lowHalf);
  const low = (value - high * lowHalf).toString(36);
  return high === 0 ? low : high.toString(36) + low.padStart(5, "0");
};

/** Five digits in base 36. */
const lowHalf = 36 ** 5;

const endMark = 0x10000;
const highFactor = 2654435761 | 0;
