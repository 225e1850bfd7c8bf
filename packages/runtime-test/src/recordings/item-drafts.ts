import type { Json, JsonObject, Message, ReplyDraft, ReportedUsage, SeedDraft } from "@colloquy/machine";
import { fromResponseItems, replyFromResponseItems, toResponseItems } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { type CanonicalItem, canonicalItemOf } from "./canonical-item.ts";
import { isTokens } from "./drafts.ts";

/** The messages that recorded items are, in their order; or in words why they are none. */
export const draftsOfItems = (items: readonly JsonObject[]): Either.Either<string, readonly SeedDraft[]> => {
  const read = fromResponseItems(items.map((item) => wrapped(canonicalItemOf(item))));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const { system, turns } = read.right;
  const drafts = turns.flat().map(withEmptyText);
  if (system === null) return Either.right(drafts);
  const leading: SeedDraft = typeof system === "string" ? { role: "system", content: system } : system;
  return Either.right([leading, ...drafts]);
};

/** What a model replied, as a host would hand it in. */
export const responseDraft = (output: readonly CanonicalItem[]): ReplyDraft => {
  const read = replyFromResponseItems(output.map(wrapped));
  // Canonical items of an output are items.
  return Either.isLeft(read) ? {} : emptyTextIn(read.right);
};

/** The messages of a prompt as canonical items; in words what is wrong with their system prompt, which has no item. */
export const itemsOfMessages = (
  messages: readonly Message[],
  instructions: string | null,
): readonly CanonicalItem[] | string => {
  // A response without an item is a reply all the same, of which a client sends nothing back.
  const [leading, ...rest] = messages.filter((message) => message.role !== "assistant" || message.parts.length > 0);
  if (!instructions) return toResponseItems(leading === undefined ? [] : [leading, ...rest]).value.map(unwrapped);
  const [part] = leading?.parts ?? [];
  return leading?.role === "system" && part?.type === "text" && part.text === instructions
    ? toResponseItems(rest).value.map(unwrapped)
    : "the instructions do not lead the prompt";
};

/** What a provider reported. What is no whole number of tokens is unknown. */
export const tokensOf = (usage: JsonObject): ReportedUsage => ({
  ...(isTokens(usage["input_tokens"]) ? { inputTokens: usage["input_tokens"] } : {}),
  ...(isTokens(usage["output_tokens"]) ? { outputTokens: usage["output_tokens"] } : {}),
  ...(isTokens(usage["total_tokens"]) ? { totalTokens: usage["total_tokens"] } : {}),
});

/** The type of an item that stands in the thread as it is. */
const recordedCall = "recorded_call";

/** Of these items all that matters is recorded. Of the others a recording keeps type and id. */
const whole: readonly string[] = ["message", "function_call", "function_call_output", "reasoning"];

const wrapped = (item: CanonicalItem): JsonObject => {
  if (!whole.includes(item.type)) return { type: recordedCall, item };
  // Else it would be left out.
  return item["role"] === "assistant" && item["content"] === ""
    ? { ...item, content: [{ type: "output_text", text: "" }] }
    : item;
};

/** A model's message that says nothing is an item all the same: its empty text is a part. */
const withEmptyText = (draft: SeedDraft): SeedDraft => (draft.role === "assistant" ? emptyTextIn(draft) : draft);

const emptyTextIn = <Draft extends Pick<ReplyDraft, "content">>(draft: Draft): Draft =>
  draft.content === "" ? { ...draft, content: [{ type: "text", text: "" }] } : draft;

const unwrapped = (item: JsonObject): CanonicalItem => canonicalItemOf(objectIn(item["item"]) ?? item);

const objectIn = (value: Json | undefined): JsonObject | undefined =>
  // JSON that is no list and no scalar is an object.
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
