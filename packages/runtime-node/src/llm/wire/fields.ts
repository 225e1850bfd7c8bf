import type { LlmOutcome } from "@colloquy/host";
import type { CallLlm, ContentPart, JsonObject, Message, Part, ReplyDraft } from "@colloquy/machine";
import { isObject } from "../json/loose-json.ts";
import type { Dialect } from "./dialect.ts";
import { hostOf } from "./dialects.ts";

/** The format of `@colloquy/interchange` whose own parts are written; null for chat completions, which have none. */
export type WireFormat = "responses" | "model" | null;

/** What of a message's provider fields goes to a server. */
export type Taken = "all" | "none" | readonly string[];

/** Returns what a server takes of the provider fields of a message: nothing of a reply that another server wrote. */
export const takenFields = ({ role, provider }: Message, { fields, ownFields }: Dialect, origin: string): Taken => {
  const recorded = role === "assistant" ? provider?.["origin"] : undefined;
  if (typeof recorded !== "string") return fields;
  return recorded !== origin ? "none" : ownFields ? "all" : fields;
};

/** Returns the fields of a `provider` that are taken; undefined for none. */
export const takenOf = (provider: JsonObject | undefined, taken: Taken): JsonObject | undefined => {
  if (provider === undefined) return undefined;
  const { origin: _, ...fields } = provider;
  const left = Object.entries(fields).filter(
    ([name]) => taken === "all" || (taken !== "none" && (taken.includes(name) || alwaysTaken.has(name))),
  );
  return left.length === 0 ? undefined : Object.fromEntries(left);
};

/** Members that say what a part is, and are not fields on the wire. */
const alwaysTaken: ReadonlySet<string> = new Set(["output"]);

/** Returns the part with the fields that are taken; nothing for a part that only another server or format can read. */
export const partWithTaken = <Any extends Part>(part: Any, taken: Taken, format: WireFormat): readonly Any[] => {
  switch (part.type) {
    case "text":
    case "refusal":
    case "toolCall": {
      const { provider, ...others } = part;
      if (provider === undefined) return [part];
      const left = takenOf(provider, taken);
      // The same part, without some of its fields.
      return [{ ...others, ...(left === undefined ? {} : { provider: left }) } as Any];
    }
    case "reasoning":
      return reasoningTaken(part, taken) as readonly Any[];
    case "opaque":
      return isForeign(part) && (taken === "none" || part.value["format"] !== format) ? [] : [part];
    default:
      return [part];
  }
};

/** Reasoning is sent if one of the names under which it came is taken, or the part that it was. */
const reasoningTaken = (part: Extract<Part, { type: "reasoning" }>, taken: Taken): readonly Part[] => {
  if (taken === "all") return [part];
  const names = part.provider?.["fields"];
  const left = takenOf(part.provider, taken) ?? {};
  const fields = Array.isArray(names) && taken !== "none" ? names.filter((name) => taken.includes(String(name))) : [];
  if (fields.length > 0) return [{ ...part, provider: { ...left, fields } }];
  return Object.keys(left).length === 0 ? [] : [{ ...part, provider: left }];
};

/** A part that came from one format, which alone can read it. */
const isForeign = ({ value }: Extract<ContentPart, { type: "opaque" }>): boolean => value["type"] === "foreign";

/**
 * Returns where a reply comes from: the host of the server, and the family of the model (`gpt` of `openai/gpt-5-mini`). Fields
 * of a provider go back to the same origin only.
 */
export const originOf = (baseURL: string, model: string): string => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return `${hostOf(baseURL)} ${/[a-z]+/.exec(name)?.[0] ?? name}`;
};

/** Returns an outcome whose reply says where it comes from, if it has anything that only its server can read. */
export const withOrigin = (outcome: LlmOutcome, origin: string): LlmOutcome =>
  outcome.type === "completed" && hasFields(outcome.reply)
    ? { ...outcome, reply: { ...outcome.reply, provider: { ...outcome.reply.provider, origin } } }
    : outcome;

/**
 * Whether a server refuses what it gave itself: a signature or encrypted reasoning of another account or model ("could not be
 * verified", "Invalid `signature` in `thinking` block"), the id of an item, or a field of a message.
 */
export const refusesFields = (outcome: LlmOutcome): boolean =>
  outcome.type === "failed" &&
  outcome.partial === undefined &&
  outcome.failure.kind === "bad_request" &&
  ofFields.test(outcome.failure.message);

const ofFields =
  /encrypted[ _]content|\bsignature|\bthinking\W* block|\breasoning_\w+|\breasoning\b.{0,20}\bitem|\binput\[\d+\]\.id\b|\bItem (with id )?'|\bmessages?\b.{0,60}\b(unsupported|unknown|unexpected|not permitted)|\b(unsupported|unknown|unexpected|unrecognized)\b.{0,40}\bmessages?\b/i;

/** Returns the call without the fields of servers in its replies: as if they came from elsewhere. The call itself if there are none. */
export const withoutFields = (call: CallLlm): CallLlm => {
  const messages = call.messages.map((message) => {
    const { role, parts, provider } = message;
    const isPlain = provider === undefined && !parts.some((part) => hasOwnFields(part) || isOfServer(part));
    return role !== "assistant" || isPlain ? message : { ...message, provider: { ...provider, origin: "" } };
  });
  return messages.every((message, index) => message === call.messages[index]) ? call : { ...call, messages };
};

const hasFields = ({ content, toolCalls = [], provider }: ReplyDraft): boolean => {
  const parts = typeof content === "string" ? [] : (content ?? []);
  return [{ provider }, ...toolCalls, ...parts].some(hasOwnFields) || parts.some(isOfServer);
};

/** Where a call stood among the parts is no field of a server. */
const hasOwnFields = (part: object): boolean =>
  "provider" in part && isObject(part.provider) && Object.keys(part.provider).some((name) => name !== "aiPlace");

/** A part that only the server can read. Sources are for users, and sent to none. */
const isOfServer = (part: { readonly type: string; readonly value?: unknown }): boolean =>
  part.type === "opaque" && isObject(part.value) && part.value["type"] === "foreign" && part.value["format"] !== "ui";
