import type { Content, Json, JsonObject, Message, Phase, ReplyDraft, SeedDraft } from "@colloquy/machine";
import { fromResponseItems, replyFromResponseItems, toResponseItems } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { type CanonicalItem, canonicalItemOf } from "./canonical-item.ts";
import { firstItemDifference } from "./difference.ts";
import { isContent } from "./feed.ts";
import { inexpressible, type Obstacle } from "./obstacle.ts";
import type { RecordedOutput, RecordedResponsesCase } from "./responses-case.ts";
import { responsesTranscript, type ResponsesTranscript } from "./responses-transcript.ts";
import type { Drafted, Ending, Given, Reply, Script } from "./script.ts";
import { recordedUsage, reportedUsage, responsesNames } from "./usage.ts";

/**
 * Reads a recorded conversation over the Responses API. Returns an obstacle if it was changed, or if no machine sends
 * its prompts. The journal gets the client's version of a response (for example without its reasoning). If a call names
 * a previous response, only the items after that response are compared with the recorded hash.
 */
export const responsesScript = (recorded: RecordedResponsesCase): Script | Obstacle => {
  const transcript = responsesTranscript(recorded);
  if ("kind" in transcript) return transcript;
  const { instructions, steps } = recorded;
  const [first] = steps;
  const items = first?.type === "input" ? first.items.map(canonicalItemOf) : [];
  const from = askedFrom(items);
  const before = draftsOfItems(items.slice(0, from));
  if (Either.isLeft(before)) return inexpressible(null, `what was said before: ${before.left}`);
  const [leading, ...rest] = before.right;
  const isLed = !instructions && (leading?.role === "system" || leading?.role === "developer");
  const seed = isLed ? rest : before.right;
  const opening: Input = { answers: [], inserted: [], asked: givenOf(items.slice(from), null, true) };
  const inputs = steps.map((step, index) =>
    step.type === "llm" ? null : index === 0 ? opening : inputOf(step.items, index),
  );
  let k = 0;
  return {
    threadId: recorded.id,
    system: instructions ? instructions : isLed ? { ...leading, role: leading.role } : null,
    seed,
    steps: steps.flatMap((step, index): readonly (Given | Reply)[] => {
      if (step.type === "llm") return [replyOf(recorded, transcript, k++, index, step)];
      const { answers = [], inserted = [], asked = [] } = inputs[index] ?? {};
      return [...answers, ...inserted, ...asked];
    }),
    end: endOf(recorded, transcript, insertedRoles(seed, inputs, steps)),
    notes: steps.flatMap((step, index) =>
      step.type === "llm" && (transcript.kept.get(index)?.length ?? step.output.length) !== step.output.length
        ? [`step ${index}: the client kept other items than it received; what it kept was journalled`]
        : [],
    ),
  };
};

const replyOf = (
  { instructions }: RecordedResponsesCase,
  transcript: ResponsesTranscript,
  k: number,
  index: number,
  step: RecordedOutput,
): Reply => {
  const kept = transcript.kept.get(index) ?? [];
  return {
    type: "reply",
    index,
    promptDifference: (messages) => {
      // A client does not send the items before the named response again; the machine's prompt still has them.
      const words = itemsDifference(messages, instructions, transcript.items.slice(0, transcript.prompts[k]));
      return words === null ? null : `: ${words}`;
    },
    draft: Either.right(responseDraft(kept)),
    calls: kept
      .filter(({ type }) => type === "function_call")
      .map((item) => ({
        id: textOf(item["call_id"]),
        name: textOf(item["name"]),
        arguments: textOf(item["arguments"]) ?? "null",
      })),
    finishReason: step.status,
    usage: reportedUsage(step.usage, responsesNames),
  };
};

const endOf = (
  { expect, steps, instructions }: RecordedResponsesCase,
  transcript: ResponsesTranscript,
  given: readonly string[],
): Ending => ({
  phase: phaseAt(steps, transcript),
  phaseOf: "what was recorded last",
  unfit: null,
  messagesDifference: (messages) => itemsDifference(messages, instructions, transcript.items),
  contradiction: null,
  counts: [
    ["model calls", "llmCalls", expect.llm_calls],
    ["prompts", expect.calls.length, expect.llm_calls],
    ["tool calls", "toolCalls", expect.tool_calls],
  ],
  usage: recordedUsage(
    expect.usage,
    steps.map((step) => (step.type === "llm" ? step.usage : null)),
    responsesNames,
  ),
  finishReasons: undefined,
  given,
});

const phaseAt = (steps: RecordedResponsesCase["steps"], { kept }: ResponsesTranscript): Phase => {
  if (steps.at(-1)?.type === "input") return "awaiting_llm";
  const last = kept.get(steps.length - 1) ?? [];
  return last.some(({ type }) => type === "function_call") ? "awaiting_tool" : "completed";
};

/** An input: results of the calls before, messages that the client inserted, and those with which a user asks. */
interface Input {
  readonly answers: readonly Given[];
  readonly inserted: readonly Given[];
  readonly asked: readonly Given[];
}

const inputOf = (recorded: readonly JsonObject[], index: number): Input => {
  const items = recorded.map(canonicalItemOf);
  const first = items.findIndex(({ type }) => type !== "function_call_output");
  const answers = items.slice(0, first === -1 ? items.length : first);
  const rest = items.slice(answers.length);
  const from = askedFrom(rest);
  return {
    answers: answers.map((item) => ({ type: "given", index, draft: Either.right(resultOf(item)), asks: false })),
    inserted: givenOf(rest.slice(0, from), index, false),
    asked: givenOf(rest.slice(from), index, true),
  };
};

/** Returns from where on all items are messages of users. */
const askedFrom = (items: readonly CanonicalItem[]): number =>
  items.findLastIndex((item) => item["role"] !== "user") + 1;

const givenOf = (items: readonly CanonicalItem[], index: number | null, asks: boolean): readonly Given[] => {
  const drafts = draftsOfItems(items);
  return Either.isLeft(drafts)
    ? [{ type: "given", index, draft: drafts, asks }]
    : drafts.right.map((draft) => ({ type: "given", index, draft: Either.right(draft), asks }));
};

/**
 * Returns the roles of the messages that the run did not produce: of results, and of items of built-in tools that become
 * a user's message, which no user wrote.
 */
const insertedRoles = (
  seed: readonly SeedDraft[],
  inputs: readonly (Input | null)[],
  steps: RecordedResponsesCase["steps"],
): readonly string[] => {
  const given = inputs.flatMap((input) => (input === null ? [] : [...input.inserted, ...input.asked]));
  const roles = [...seed, ...given.flatMap(({ draft }) => (Either.isRight(draft) ? draft.right : []))].map(
    ({ role }) => role,
  );
  const users = steps
    .flatMap((step) => (step.type === "input" ? step.items : []))
    .filter(({ role }) => role === "user");
  return [...roles.filter((role) => role === "tool"), ...roles.filter((role) => role === "user").slice(users.length)];
};

/** Converts recorded items to messages, in their order. */
const draftsOfItems = (items: readonly CanonicalItem[]): Drafted<readonly SeedDraft[]> => {
  const read = fromResponseItems(items.map(wrapped));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const { system, turns } = read.right;
  const drafts = turns.flat().map((draft) => (draft.role === "assistant" ? withEmptyText(draft) : draft));
  if (system === null) return Either.right(drafts);
  return Either.right([typeof system === "string" ? { role: "system", content: system } : system, ...drafts]);
};

/** Converts a model's reply to the draft that a host would pass. */
const responseDraft = (output: readonly CanonicalItem[]): ReplyDraft => {
  const read = replyFromResponseItems(output.map(wrapped));
  // Canonical items of an output are always valid items.
  return Either.isLeft(read) ? {} : withEmptyText(read.right);
};

const resultOf = (item: CanonicalItem): SeedDraft => ({
  role: "tool",
  toolCallId: textOf(item["call_id"]),
  content: contentOf(item["output"] ?? ""),
});

/** Converts a function's output to content, as that of a message. */
const contentOf = (output: Json): Content => {
  if (typeof output === "string") return output;
  const read = draftsOfItems([{ type: "message", role: "user", content: output }]);
  const content = Either.isLeft(read) ? "" : (read.right[0]?.content ?? "");
  return typeof content === "string" ? content : content.filter(isContent);
};

/** Describes how messages differ from recorded items; null if they do not. Instructions lead them, and have no item. */
const itemsDifference = (
  messages: readonly Message[],
  instructions: string | null,
  recorded: readonly CanonicalItem[],
): string | null => {
  // A response without an item is still a reply, but a client sends nothing of it back.
  const sent = messages.filter((message) => message.role !== "assistant" || message.parts.length > 0);
  const [leading] = sent;
  const [part] = leading?.parts ?? [];
  if (instructions && !(leading?.role === "system" && part?.type === "text" && part.text === instructions))
    return "the instructions do not lead the prompt";
  return firstItemDifference(toResponseItems(instructions ? sent.slice(1) : sent).value.map(unwrapped), recorded);
};

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

const unwrapped = (item: JsonObject): CanonicalItem => {
  const { item: inner } = item;
  // JSON that is neither a list nor a scalar is an object.
  const isObject = typeof inner === "object" && inner !== null && !Array.isArray(inner);
  return canonicalItemOf(isObject ? (inner as JsonObject) : item);
};

/** Keeps an empty message of the model as an item, with an empty text as its part. */
const withEmptyText = <Draft extends Pick<ReplyDraft, "content">>(draft: Draft): Draft =>
  draft.content === "" ? { ...draft, content: [{ type: "text", text: "" }] } : draft;

const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);
