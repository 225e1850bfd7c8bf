import type { Json, JsonObject, Message, ReplyDraft, ReportedUsage, SeedDraft } from "@colloquy/machine";
import { fromResponseItems, replyFromResponseItems, toResponseItems } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { type CanonicalItem, canonicalItemOf } from "./canonical-item.ts";
import { isTokens } from "./drafts.ts";

/** Converts recorded items to messages, in their order; Left with a description of the problem. */
export const draftsOfItems = (items: readonly JsonObject[]): Either.Either<string, readonly SeedDraft[]> => {
  const read = fromResponseItems(items.map((item) => wrapped(canonicalItemOf(item))));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const { system, turns } = read.right;
  const drafts = turns.flat().map(withEmptyText);
  if (system === null) return Either.right(drafts);
  const leading: SeedDraft = typeof system === "string" ? { role: "system", content: system } : system;
  return Either.right([leading, ...drafts]);
};

/** Converts a model's reply to the draft that a host would pass. */
export const responseDraft = (output: readonly CanonicalItem[]): ReplyDraft => {
  const read = replyFromResponseItems(output.map(wrapped));
  // Canonical items of an output are always valid items.
  return Either.isLeft(read) ? {} : emptyTextIn(read.right);
};

/**
 * Converts the messages of a prompt to canonical items. Returns a description of the problem if the instructions, which
 * have no item, do not lead the prompt.
 */
export const itemsOfMessages = (
  messages: readonly Message[],
  instructions: string | null,
): readonly CanonicalItem[] | string => {
  // A response without an item is still a reply, but a client sends nothing of it back.
  const [leading, ...rest] = messages.filter((message) => message.role !== "assistant" || message.parts.length > 0);
  if (!instructions) return toResponseItems(leading === undefined ? [] : [leading, ...rest]).value.map(unwrapped);
  const [part] = leading?.parts ?? [];
  return leading?.role === "system" && part?.type === "text" && part.text === instructions
    ? toResponseItems(rest).value.map(unwrapped)
    : "the instructions do not lead the prompt";
};

/** Converts the provider's usage report. A figure that is not a whole number of tokens is unknown. */
export const tokensOf = (usage: JsonObject): ReportedUsage => ({
  ...(isTokens(usage["input_tokens"]) ? { inputTokens: usage["input_tokens"] } : {}),
  ...(isTokens(usage["output_tokens"]) ? { outputTokens: usage["output_tokens"] } : {}),
  ...(isTokens(usage["total_tokens"]) ? { totalTokens: usage["total_tokens"] } : {}),
});

/** The type of an item that the thread keeps unchanged. */
const recordedCall = "recorded_call";

/** Items whose relevant content is recorded. A recording keeps only type and id of other items. */
const whole: readonly string[] = ["message", "function_call", "function_call_output", "reasoning"];

const wrapped = (item: CanonicalItem): JsonObject => {
  if (!whole.includes(item.type)) return { type: recordedCall, item };
  // Otherwise the empty message would be left out.
  return item["role"] === "assistant" && item["content"] === ""
    ? { ...item, content: [{ type: "output_text", text: "" }] }
    : item;
};

/** Keeps an empty message of the model as an item, with an empty text as its part. */
const withEmptyText = (draft: SeedDraft): SeedDraft => (draft.role === "assistant" ? emptyTextIn(draft) : draft);

const emptyTextIn = <Draft extends Pick<ReplyDraft, "content">>(draft: Draft): Draft =>
  draft.content === "" ? { ...draft, content: [{ type: "text", text: "" }] } : draft;

const unwrapped = (item: JsonObject): CanonicalItem => canonicalItemOf(objectIn(item["item"]) ?? item);

const objectIn = (value: Json | undefined): JsonObject | undefined =>
  // JSON that is neither a list nor a scalar is an object.
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
