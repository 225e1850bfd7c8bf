import { fromResponseItems, replyFromResponseItems, toResponseItems } from "@colloquy/interchange";
import type { Json, JsonObject, Message, Phase, ReplyDraft, SeedDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type CanonicalItem, canonicalItemOf, objectOf, sha256OfItems } from "./canonical.ts";
import { firstItemDifference, glimpseOfItem } from "./difference.ts";
import type { RecordedOutput, RecordedResponsesCase } from "./case.ts";
import {
  difference,
  type Ending,
  type Given,
  inexpressible,
  type Obstacle,
  type Reply,
  type Script,
} from "./script.ts";

/**
 * Reads a recorded conversation over the Responses API. The journal gets the client's version of a response (for
 * example without its reasoning). If a call names a previous response, only the items after that response are compared
 * with the recorded hash.
 *
 * @throws Obstacle if the recording was changed, or if no machine sends its prompts
 */
export const responsesScript = (recorded: RecordedResponsesCase): Script => {
  const transcript = transcriptOf(recorded);
  const { instructions, steps } = recorded;
  const inputs = steps.map((step) => (step.type === "llm" ? null : inputOf(step.items)));
  // No model has called tools before the first input, so all of it but the question is the seed.
  const [first] = inputs;
  const before = draftsOfItems(first === undefined || first === null ? [] : [...first.answers, ...first.inserted]);
  if (Either.isLeft(before)) throw inexpressible(null, `what was said before: ${before.left}`);
  const [leading, ...rest] = before.right;
  const isLed = !instructions && (leading?.role === "system" || leading?.role === "developer");
  const seed = isLed ? rest : before.right;
  let k = 0;
  const script = steps.flatMap((step, index): readonly (Given | Reply)[] => {
    if (step.type === "llm") {
      const kept = transcript.kept.get(index) ?? [];
      return [replyOf(instructions, transcript.items.slice(0, transcript.prompts[k++]), index, kept, step)];
    }
    const { answers = [], inserted = [], asked = [] } = inputs[index] ?? {};
    if (index === 0) return givenOf(asked, null, true);
    const results = answers.map((item): Given => ({
      type: "given",
      index,
      draft: () => resultOf(index, item),
      asks: false,
    }));
    return [...results, ...givenOf(inserted, index, false), ...givenOf(asked, index, true)];
  });
  const inserted = inputs.slice(1).flatMap((input) => {
    const drafts = draftsOfItems(input?.inserted ?? []);
    return Either.isRight(drafts) ? drafts.right : [];
  });
  return {
    threadId: recorded.id,
    system: instructions ? instructions : isLed ? { ...leading, role: leading.role } : null,
    seed,
    steps: script,
    end: endOf(
      recorded,
      transcript,
      [...seed, ...inserted].filter(isNotSaid).map(({ role }) => role),
    ),
    notes: steps.flatMap((step, index) =>
      step.type === "llm" && (transcript.kept.get(index)?.length ?? step.output.length) !== step.output.length
        ? [`step ${index}: the client kept other items than it received; what it kept was journalled`]
        : [],
    ),
  };
};

const replyOf = (
  instructions: string | null,
  prompt: readonly CanonicalItem[],
  index: number,
  kept: readonly CanonicalItem[],
  { status, usage }: RecordedOutput,
): Reply => ({
  type: "reply",
  index,
  promptDifference: (messages) => {
    // A client does not send the items before the named response again; the machine's prompt still has them.
    const words = itemsDifference(messages, instructions, prompt);
    return words === null ? null : `: ${words}`;
  },
  draft: () => responseDraft(kept),
  finishReason: status,
  usage,
});

const endOf = (
  { expect, steps, instructions }: RecordedResponsesCase,
  transcript: Transcript,
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
  usage: expect.usage,
  usageNames: { inputTokens: "input_tokens", outputTokens: "output_tokens", totalTokens: "total_tokens" },
  finishReasons: undefined,
  given,
});

const phaseAt = (steps: RecordedResponsesCase["steps"], { kept }: Transcript): Phase => {
  if (steps.at(-1)?.type === "input") return "awaiting_llm";
  const last = kept.get(steps.length - 1) ?? [];
  return last.some(({ type }) => type === "function_call") ? "awaiting_tool" : "completed";
};

/** An input: results of the calls before, messages that the client inserted, and those with which a user asks. */
type Input = { readonly [Kind in "answers" | "inserted" | "asked"]: readonly CanonicalItem[] };

const inputOf = (recorded: readonly JsonObject[]): Input => {
  const items = recorded.map(canonicalItemOf);
  const first = items.findIndex(({ type }) => type !== "function_call_output");
  const answered = first === -1 ? items.length : first;
  const from = Math.max(answered, items.findLastIndex((item) => item["role"] !== "user") + 1);
  return { answers: items.slice(0, answered), inserted: items.slice(answered, from), asked: items.slice(from) };
};

const givenOf = (items: readonly CanonicalItem[], index: number | null, asks: boolean): readonly Given[] => {
  const drafts = draftsOfItems(items);
  if (Either.isRight(drafts)) return drafts.right.map((draft) => ({ type: "given", index, draft: () => draft, asks }));
  const unreadable = (): never => {
    throw inexpressible(index, drafts.left);
  };
  return [{ type: "given", index, draft: unreadable, asks }];
};

/** Returns whether a message is a result, or an item of a built-in tool that became a user's message. */
const isNotSaid = ({ role, content }: SeedDraft): boolean =>
  role === "tool" ||
  (role === "user" &&
    typeof content === "object" &&
    content.some((part) => part.type === "opaque" && objectOf(part.value["value"])?.["type"] === recordedCall));

const draftsOfItems = (items: readonly CanonicalItem[]): Either.Either<string, readonly SeedDraft[]> => {
  const read = fromResponseItems(items.map(wrapped));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const { system, turns } = read.right;
  const drafts = turns.flat().map((draft) => (draft.role === "assistant" ? withEmptyText(draft) : draft));
  if (system === null) return Either.right(drafts);
  return Either.right([typeof system === "string" ? { role: "system", content: system } : system, ...drafts]);
};

const responseDraft = (output: readonly CanonicalItem[]): ReplyDraft => {
  const read = replyFromResponseItems(output.map(wrapped));
  // Canonical items of an output are always valid items.
  return Either.isLeft(read) ? {} : withEmptyText(read.right);
};

/** Reads a result together with a call, because a result alone is not a conversation. */
const resultOf = (index: number, { call_id = null, output = null }: CanonicalItem): SeedDraft => {
  const call = { type: "function_call", call_id, name: "any", arguments: "{}" };
  const read = draftsOfItems([call, { type: "function_call_output", call_id, output: output ?? "" }]);
  const draft = Either.isRight(read) ? read.right.at(-1) : undefined;
  if (draft === undefined) throw inexpressible(index, Either.isLeft(read) ? read.left : "the result is lost");
  return draft;
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

const unwrapped = (item: JsonObject): CanonicalItem => canonicalItemOf(objectOf(item["item"]) ?? item);

/** Keeps an empty message of the model as an item, with an empty text as its part. */
const withEmptyText = <Draft extends Pick<ReplyDraft, "content">>(draft: Draft): Draft =>
  draft.content === "" ? { ...draft, content: [{ type: "text", text: "" }] } : draft;

/** The content of a recording of the Responses API, without any machine. */
interface Transcript {
  /** All items in order, as the client kept them. */
  readonly items: readonly CanonicalItem[];
  /** For each model call, the number of items before its reply. */
  readonly prompts: readonly number[];
  /** The client's version of each response, by the index of its step. */
  readonly kept: ReadonlyMap<number, readonly CanonicalItem[]>;
}

/** Folds the steps of a case. The hash of the next call tells which version of a response the client kept. */
const transcriptOf = (recorded: RecordedResponsesCase): Transcript => {
  let items: readonly CanonicalItem[] = [];
  let last: { readonly index: number; readonly output: readonly CanonicalItem[] } | null = null;
  const prompts: number[] = [];
  const kept = new Map<number, readonly CanonicalItem[]>();
  let added: readonly CanonicalItem[] = [];
  for (const [index, step] of recorded.steps.entries()) {
    if (step.type === "input") {
      added = [...added, ...step.items.map(canonicalItemOf)];
      continue;
    }
    const sent = sentAt(recorded, prompts.length, items, last?.output ?? [], added);
    if (sent === null) throw changed(index, prompts.length, recorded, [...(last?.output ?? []), ...added]);
    if (last !== null) kept.set(last.index, sent);
    items = [...items, ...sent, ...added];
    prompts.push(items.length);
    last = { index, output: step.output.map(canonicalItemOf) };
    added = [];
  }
  if (last !== null) kept.set(last.index, last.output);
  items = [...items, ...(last?.output ?? []), ...added];
  requireIds(items);
  requireRounds(items.slice(0, prompts.at(-1) ?? 0));
  return { items, prompts, kept };
};

const sentAt = (
  recorded: RecordedResponsesCase,
  k: number,
  before: readonly CanonicalItem[],
  output: readonly CanonicalItem[],
  added: readonly CanonicalItem[],
): readonly CanonicalItem[] | null => {
  const expected = recorded.expect.calls[k];
  if (expected === undefined) return null;
  const isWhole = expected.previous_response_id === null || before.length + output.length === 0;
  const choices = isWhole ? keptChoices(output) : [output];
  const kept = choices.find((choice) => {
    const sent = isWhole ? [...before, ...choice, ...added] : added;
    return sent.length === expected.input_items && sha256OfItems(sent) === expected.sha256;
  });
  return kept ?? null;
};

/** Returns the versions of a response that a client may keep: with, without, or with unidentified other items. */
const keptChoices = (output: readonly CanonicalItem[]): readonly (readonly CanonicalItem[])[] => {
  const types = new Set(output.map(({ type }) => type).filter((type) => !isNeeded(type)));
  return [...types].reduce<readonly (readonly CanonicalItem[])[]>(
    (choices, type) => [
      ...choices,
      ...choices.map((items) => items.map((item) => (item.type === type ? { ...item, id: null } : item))),
      ...choices.map((items) => items.filter((item) => item.type !== type)),
    ],
    [output],
  );
};

/** Returns whether a conversation needs this type of item to continue. Its canonical form has no id. */
const isNeeded = (type: string): boolean =>
  type === "message" || type === "function_call" || type === "function_call_output";

const changed = (
  index: number,
  k: number,
  recorded: RecordedResponsesCase,
  fresh: readonly CanonicalItem[],
): Obstacle => {
  const expected = recorded.expect.calls[k];
  if (expected === undefined)
    return difference(index, `model call ${k} is one too many: ${recorded.expect.calls.length} were expected`);
  const suspects = fresh.map(glimpseOfItem).join("; ").slice(0, 300);
  return difference(
    index,
    `model call ${k} was sent ${expected.input_items} items of the hash ${expected.sha256.slice(0, 12)}…, which those of the steps do not have: one of the last ${fresh.length} (${suspects}) was changed after the recording, or the hash was`,
  );
};

/** @throws Obstacle for a call that no output can identify: the machine gives such calls new ids */
const requireIds = (items: readonly CanonicalItem[]): void => {
  let ids = new Set<Json | undefined>();
  for (const [place, item] of items.entries()) {
    if (item.type === "function_call_output" || item["role"] === "user") ids = new Set();
    if (item.type !== "function_call") continue;
    const id = item["call_id"];
    if (id === null || ids.has(id)) throw unsendable(`item ${place} is a call without an id of its own`);
    ids.add(id);
  }
};

/** @throws Obstacle for a call without its result in these items, or with results in another order */
const requireRounds = (items: readonly CanonicalItem[]): void => {
  let open: readonly JsonObject[] = [];
  let answering = false;
  for (const [place, item] of items.entries()) {
    const isReply = item.type !== "message" || item["role"] === "assistant";
    if (item.type === "function_call_output") {
      const [call, ...rest] = open;
      if (call === undefined) throw unsendable(`item ${place} is an output that no call just before it asked for`);
      if (call["call_id"] !== item["call_id"])
        throw unsendable(`item ${place} is an output where that of another call should stand`);
      open = rest;
      answering = true;
    } else if (open.length > 0 && (answering || !isReply)) {
      throw unsendable(`item ${place} (${item.type}) stands where the output of a call should`);
    } else if (item.type === "function_call") {
      open = [...open, item];
      answering = false;
    } else if (open.length === 0) answering = false;
  }
  if (open.length > 0) throw unsendable("the output of a call is missing at its end");
};

const unsendable = (reason: string): Obstacle => inexpressible(null, `it was sent what no machine sends: ${reason}`);
