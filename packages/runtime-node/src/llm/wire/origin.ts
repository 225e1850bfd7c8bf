import type { LlmOutcome } from "@colloquy/host";
import type { CallLlm, Message, ReplyDraft } from "@colloquy/machine";
import { isObject } from "../json/loose-json.ts";
import { hostOf } from "./dialects.ts";
import type { Wire } from "./messages.ts";

/**
 * Returns the origin of a reply: the host of the server, and the family of the model (`gpt` of `openai/gpt-5-mini`). Provider
 * fields go back to the same origin only.
 */
export const originOf = (baseURL: string, model: string): string => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return `${hostOf(baseURL)} ${/[a-z]+/.exec(name)?.[0] ?? name}`;
};

/** Records the origin of a reply that has anything that only its server can read. */
export const withOrigin = (outcome: LlmOutcome, origin: string): LlmOutcome =>
  outcome.type === "completed" && hasFields(outcome.reply)
    ? { ...outcome, reply: { ...outcome.reply, provider: { ...outcome.reply.provider, origin } } }
    : outcome;

/**
 * The refusals of servers that got back what they gave themselves. A refused field of messages is left out of all calls. Refused
 * content (a signature or encrypted reasoning of another account or model, the id of an item) is left out of these messages.
 */
export class RefusedFields {
  /** The origins whose replies have a field that is refused. */
  readonly #origins = new Set<string>();
  /** Messages without their fields. */
  readonly #plain = new WeakMap<Message, Message>();
  /** Whether there are such messages: looking at each of a long history costs more than the rest of a call. */
  #hasPlain = false;

  /**
   * Sends a call without the fields that are known to be refused. If the server refuses others, sends it once more, without any,
   * and remembers that if it is answered.
   */
  async send(call: CallLlm, wire: Wire, send: (call: CallLlm) => Promise<LlmOutcome>): Promise<LlmOutcome> {
    const owes = wire.dialect.owedReasoning !== null;
    const isKnown = this.#origins.has(wire.origin);
    const known = (message: Message): Message =>
      isKnown ? this.#strip(message, owes) : (this.#plain.get(message) ?? message);
    const first = isKnown || this.#hasPlain ? withMessages(call, known) : call;
    const outcome = await send(first);
    const refusal = outcome.type !== "failed" || outcome.partial !== undefined ? null : outcome.failure;
    if (refusal?.kind !== "bad_request") return outcome;
    const isOfContent = ofContent.test(refusal.message);
    if (!isOfContent && !ofFields.test(refusal.message)) return outcome;
    const plain = withMessages(first, (message) => withoutFields(message, owes && !isOfContent));
    if (plain === first) return outcome;
    const second = await send(plain);
    if (second.type !== "completed") return second;
    if (isOfContent) call.messages.forEach((message) => this.#strip(message, false));
    else this.#origins.add(wire.origin);
    return second;
  }

  /** The same message each time, since what is written of it is kept. */
  #strip(message: Message, owes: boolean): Message {
    const plain = withoutFields(this.#plain.get(message) ?? message, owes);
    if (plain !== message) {
      this.#plain.set(message, plain);
      this.#hasPlain = true;
    }
    return plain;
  }
}

const ofContent =
  /encrypted[ _]content|\bsignature|\bthinking\W* block|\breasoning\b.{0,20}\bitem|\binput\[\d+\]\.id\b|\bItem (with id )?'/i;

const ofFields =
  /\breasoning_\w+|\bmessages?\b.{0,60}\b(unsupported|unknown|unexpected|not permitted)|\b(unsupported|unknown|unexpected|unrecognized)\b.{0,40}\bmessages?\b/i;

const withMessages = (call: CallLlm, change: (message: Message) => Message): CallLlm => {
  const messages = call.messages.map(change);
  return messages.every((message, index) => message === call.messages[index]) ? call : { ...call, messages };
};

/**
 * Returns a reply without the fields of servers, as if it had another origin, and without those that its dialect owes; the same
 * message if there are none.
 */
const withoutFields = (message: Message, owes: boolean): Message => {
  const { role, parts, provider } = message;
  const hasFields = provider?.["origin"] !== "" && (provider !== undefined || parts.some(hasServerData));
  const isOwing = owes && provider?.["owes"] !== "nothing";
  if (role !== "assistant" || (!hasFields && !isOwing)) return message;
  return { ...message, provider: { ...provider, origin: "", ...(owes && { owes: "nothing" }) } };
};

const hasFields = ({ content, toolCalls = [], provider }: ReplyDraft): boolean =>
  [{ provider }, ...toolCalls, ...(typeof content === "string" ? [] : (content ?? []))].some(hasServerData);

/** Whether a part has fields of its server, or only its server can read it. Sources are for users, and sent to no server. */
const hasServerData = (part: {
  readonly type?: string;
  readonly provider?: unknown;
  readonly value?: unknown;
}): boolean => {
  const { type, provider, value } = part;
  // The place of a call among the parts is not a field of a server.
  const hasOwn = isObject(provider) && Object.keys(provider).some((name) => name !== "aiPlace");
  return hasOwn || (type === "opaque" && isObject(value) && value["type"] === "foreign" && value["format"] !== "ui");
};
