import type {
  AppendedResult,
  Content,
  ContentPart,
  Json,
  JsonObject,
  MessageDraft,
  ReplyDraft,
  SeedDraft,
  SystemDraft,
  ToolCallDraft,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type CanonicalItem, canonicalItemOf } from "./canonical-item.ts";
import { type Drive, send, toolCallsOut } from "./drive.ts";
import { appendable } from "./drafts.ts";
import { draftsOfItems } from "./item-drafts.ts";
import { difference, inexpressible, type Obstacle } from "./obstacle.ts";
import type { RecordedResponsesCase } from "./responses-case.ts";

/** The beginning of a thread: the system message, the seed, and the user messages that open the first turn. */
export interface ItemOpening {
  readonly system: SystemDraft | null;
  readonly seed: readonly SeedDraft[];
  readonly asked: readonly CanonicalItem[];
}

/**
 * Splits the first input: the user messages at its end open the turn, everything before is the seed. Without
 * instructions, a leading system message becomes the system prompt.
 */
export const openingOf = (recorded: RecordedResponsesCase): ItemOpening | Obstacle => {
  const [first] = recorded.steps;
  const items = first?.type === "input" ? first.items.map(canonicalItemOf) : [];
  const from = items.findLastIndex((item) => item["role"] !== "user") + 1;
  const drafts = draftsOfItems(items.slice(0, from));
  if (Either.isLeft(drafts)) return inexpressible(null, `what was said before: ${drafts.left}`);
  const asked = items.slice(from);
  if (recorded.instructions) return { system: recorded.instructions, seed: drafts.right, asked };
  const [leading, ...seed] = drafts.right;
  return leading?.role === "system" || leading?.role === "developer"
    ? { system: { ...leading, role: leading.role }, seed, asked }
    : { system: null, seed: drafts.right, asked };
};

/**
 * Sends the machine an input. If functions are outstanding, it begins with their results; the other items are sent
 * before the last result. Otherwise the user messages at its end are asked, after the items that the client inserted
 * before them.
 */
export const feedInput = (driven: Drive, given: readonly JsonObject[], index: number | null): Obstacle | null => {
  const items = given.map(canonicalItemOf);
  const waiting = toolCallsOut(driven).length;
  if (waiting === 0) return feedGap(driven, items, index);
  const results = items.slice(0, waiting);
  const closing = results.at(-1);
  if (closing === undefined) return difference(index, "the outputs of calls are missing");
  return (
    firstOf(results.slice(0, -1), (item) => giveResult(driven, item, index)) ??
    appendAll(driven, items.slice(waiting), index) ??
    giveResult(driven, closing, index)
  );
};

const feedGap = (driven: Drive, items: readonly CanonicalItem[], index: number | null): Obstacle | null => {
  const from = items.findLastIndex((item) => item["role"] !== "user") + 1;
  const asked = draftsOfItems(items.slice(from));
  if (Either.isLeft(asked)) return inexpressible(index, asked.left);
  const input: MessageDraft[] = [];
  for (const draft of asked.right) {
    const message = sayable(draft);
    if (Either.isLeft(message)) return inexpressible(index, message.left);
    input.push(message.right);
  }
  const askId = `ask-${driven.entries.length}`;
  return (
    appendAll(driven, items.slice(0, from), index) ??
    heard(index, send(driven, { type: "ask.received", askId, input: inputOf(input) }))
  );
};

const inputOf = (drafts: readonly MessageDraft[]): Content | readonly MessageDraft[] => {
  const [only] = drafts;
  return only === undefined || drafts.length > 1 || only.content.length === 0 ? drafts : only.content;
};

const giveResult = (driven: Drive, item: CanonicalItem, index: number | null): Obstacle | null => {
  const call = toolCallsOut(driven).find(({ providerCallId }) => providerCallId === item["call_id"]);
  if (item.type !== "function_call_output" || call === undefined)
    return difference(index, `no call waits for ${JSON.stringify(item)}`);
  const output = item["output"] ?? "";
  return heard(index, send(driven, { type: "tool.completed", effectId: call.id, content: contentOf(output) }));
};

/** Converts a function's output to content. */
const contentOf = (output: Json): Content => {
  if (typeof output === "string") return output;
  const read = draftsOfItems([{ type: "message", role: "user", content: output }]);
  const [draft] = Either.isLeft(read) ? [] : read.right;
  const content = draft?.content ?? "";
  return typeof content === "string" ? content : content.filter(isContent);
};

const isContent = (part: { readonly type: string }): part is ContentPart =>
  part.type !== "reasoning" && part.type !== "refusal";

/** Appends the items that the client inserted itself: messages, and whole rounds of calls and outputs. */
const appendAll = (driven: Drive, items: readonly CanonicalItem[], index: number | null): Obstacle | null => {
  const drafts = draftsOfItems(items);
  if (Either.isLeft(drafts)) return inexpressible(index, drafts.left);
  return firstOf(drafts.right, (draft, place) => {
    if (draft.role === "tool") return null;
    const calls = callsOf(draft);
    if (calls.length > 0)
      return appendRound(
        driven,
        { ...draft, toolCalls: calls },
        drafts.right.slice(place + 1, place + 1 + calls.length),
        index,
      );
    const message = sayable(draft);
    if (Either.isLeft(message)) return inexpressible(index, message.left);
    return heard(index, send(driven, { type: "message.appended", message: message.right }));
  });
};

const appendRound = (
  driven: Drive,
  { content, toolCalls }: ReplyDraft,
  answers: readonly SeedDraft[],
  index: number | null,
): Obstacle | null => {
  const results = answers.map(
    // A result's draft has no other content; the type of all drafts cannot express that.
    (answer): AppendedResult => ({ outcome: "completed", content: answer.content as Content }),
  );
  const reply = { ...(content === undefined ? {} : { content }), ...(toolCalls === undefined ? {} : { toolCalls }) };
  const event = { type: "round.appended", reply, results } as const;
  return heard(index, send(driven, event));
};

/**
 * Converts a draft to a message to append, which has no reasoning and no refusal. A machine keeps those only in replies
 * and in the seed.
 */
const sayable = (draft: SeedDraft): Either.Either<string, MessageDraft> =>
  typeof draft.content === "object" && draft.content.some((part) => !isContent(part))
    ? Either.left("reasoning or a refusal that the client put there itself, outside a round of calls")
    : appendable(draft);

const callsOf = (draft: SeedDraft): readonly ToolCallDraft[] =>
  draft.role === "assistant" && "toolCalls" in draft ? (draft.toolCalls ?? []) : [];

const firstOf = <Value>(
  values: readonly Value[],
  obstacleOf: (value: Value, place: number) => Obstacle | null,
): Obstacle | null => {
  for (const [place, value] of values.entries()) {
    const obstacle = obstacleOf(value, place);
    if (obstacle !== null) return obstacle;
  }
  return null;
};

const heard = (step: number | null, refused: string | null): Obstacle | null =>
  refused === null ? null : difference(step, refused);
