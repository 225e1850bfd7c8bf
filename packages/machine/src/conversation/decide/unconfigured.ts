import * as Either from "fp-ts/lib/Either.js";
import { type Message, textOf } from "../../thread/message.ts";
import { isBefore, isOnPath, isThreadEmpty, type Thread, turnOf } from "../../thread/thread.ts";
import { at, toArray } from "../../thread/chunks.ts";
import { messagesFromSeed } from "../../thread/seed.ts";
import type { ConversationData, Summarising } from "../protocol/data.ts";
import { interruptedResults } from "./step.ts";
import { draftsOf, problemOfCalls } from "../update/turn-opening.ts";
import { answerIndexOf, changeSystem, checkpointOf, resetSystem } from "../update/edit.ts";
import type {
  AnswerTruncated,
  AskReceived,
  CancelRequested,
  Event,
  HeadMoved,
  MessagePinned,
  RoundAppended,
  ThreadRedacted,
  TurnAdded,
  TurnAnnotated,
} from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import { type Decision, type Refusal, refuse } from "../protocol/refusal.ts";
import { isCoveredBySummary } from "../../prompt/summary-request.ts";
import { isShared } from "../update/waiting-asks.ts";
import { messagesOfOpen } from "../read/turns.ts";

/** An event on which the configuration has no influence: neither an ask nor an answer. */
export type UnconfiguredEvent = Exclude<Event, AskReceived | { readonly effectId: string }>;

export const decideUnconfigured = (data: ConversationData, event: UnconfiguredEvent): Decision => {
  switch (event.type) {
    case "cancel.requested":
      return decideCancel(data, event);
    case "message.appended":
      return fits(problemOfCalls([event.message], false));
    case "round.appended":
      return fits(problemOfRound(event));
    case "system.changed":
    case "system.reset":
      return decideSystem(data, event);
    case "metadata.changed":
    case "thread.configured":
      return Either.right(nothing);
    case "thread.forked":
      return data.open === null ? Either.right(nothing) : busyWith(data.open.number, event.type);
    case "thread.redacted":
      return decideRedaction(data, event);
    case "turn.added":
    case "turn.annotated":
    case "answer.truncated":
    case "head.moved":
    case "checkpoint.named":
      return decideEdit(data, event);
    case "message.pinned":
      return decidePin(data, event);
  }
};

type SystemChange = Extract<Event, { readonly type: "system.changed" | "system.reset" }>;

const nothing: Decided = {};

/** Accepts an event without a decision, or refuses it with the given reason. */
const fits = (problem: string | null): Decision =>
  problem === null ? Either.right(nothing) : refuse("invalid", problem);

/** Refuses to remove the system message while the next prompt may consist of it alone. */
const decideSystem = (data: ConversationData, event: SystemChange): Decision => {
  const turn = turnAnswering(data);
  const { conversation } = data;
  const changed =
    event.type === "system.changed" ? changeSystem(conversation, event.system) : resetSystem(conversation);
  return turn === null || !isThreadEmpty(changed) || isSomethingAsked(data)
    ? Either.right(nothing)
    : refuse(
        "busy",
        `without the system message there is nothing to send in turn ${turn}, which is open or about to be and asks nothing itself; wait for its end or cancel it before "${event.type}"`,
      );
};

/**
 * Returns whether the turn that is open or about to open has something to send, whatever happens next. Waiting and
 * joining asks do not count, since they may be withdrawn. A refused output leaves the open turn together with its
 * answer.
 */
const isSomethingAsked = ({ open, queue }: ConversationData): boolean => {
  if (open === null) return queue.every((ask) => draftsOf(ask).length > 0);
  return (
    open.asks.some(({ messages }) => messages !== 0) ||
    (open.output === undefined && open.messages.length + open.waiting.length > 0)
  );
};

const decideCancel = (data: ConversationData, event: CancelRequested): Decision => {
  const { askId } = event;
  const { open } = data;
  const waiting = [...data.queue, ...(open?.joining ?? [])];
  if (askId !== undefined && waiting.some((ask) => ask.askId === askId)) return Either.right(nothing);
  if (open === null) return refuse("stale", "no turn is open: there is nothing to cancel");
  if (askId !== undefined && isShared(open, askId)) return Either.right(nothing);
  if (askId !== undefined && !open.asks.some((ask) => ask.askId === askId)) {
    return refuse("unknown", `ask "${askId}" is neither open nor queued: it was answered, or never made`);
  }
  return Either.right(interruptedResults(open, "the turn was cancelled"));
};

const decideEdit = (
  data: ConversationData,
  event: TurnAdded | TurnAnnotated | AnswerTruncated | HeadMoved | Extract<Event, { type: "checkpoint.named" }>,
): Decision => {
  const thread = data.conversation;
  const answering = turnAnswering(data);
  if (answering !== null && event.type !== "turn.annotated") return busyWith(answering, event.type);
  switch (event.type) {
    case "turn.added": {
      if (event.messages.length === 0) return refuse("invalid", "a turn needs messages, and none are given");
      const problem = messagesFromSeed(0, event.messages);
      return fits(Either.isLeft(problem) ? problem.left : problemOfCalls(event.messages, true));
    }
    case "turn.annotated":
      return turnOf(thread, event.turn) === undefined ? noTurn(data, event.turn) : Either.right(nothing);
    case "answer.truncated": {
      const turn = turnOf(thread, event.turn);
      if (turn === undefined) return noTurn(data, event.turn);
      const answer = at(turn.messages, answerIndexOf(turn));
      if (answer === undefined) return refuse("invalid", `turn ${event.turn} has no answer with a text to truncate`);
      return Either.right({
        kept: charactersOf(textOf(answer), event.characters),
        ...staleSummary(data, (summarising) => isCoveredBySummary(thread, event.turn, summarising)),
      });
    }
    case "head.moved":
      return decideMove(data, event.to);
    case "checkpoint.named":
      return event.name === "" ? refuse("invalid", "a checkpoint needs a name") : Either.right(nothing);
  }
};

const problemOfRound = ({ reply, results }: RoundAppended): string | null => {
  const calls = reply.toolCalls?.length ?? 0;
  if (calls === 0)
    return 'a round has at least one tool call, and this one has none; "message.appended" takes a message without';
  return calls === results.length
    ? problemOfCalls([{ role: "assistant", ...reply }], true)
    : `a round has one result for each call, in the order of the calls (got ${results.length} for ${calls})`;
};

const decideRedaction = (data: ConversationData, { seqs, type }: ThreadRedacted): Decision => {
  const answering = turnAnswering(data);
  if (answering !== null) return busyWith(answering, type);
  if (seqs.length === 0) return refuse("invalid", "there is no entry to redact");
  const wrong = seqs.find((seq, index) => seq > data.seq || seq <= (seqs[index - 1] ?? -1));
  return wrong === undefined
    ? Either.right(staleSummary(data, () => true))
    : refuse("invalid", `entry ${wrong} can't be redacted: give entries from 0 to ${data.seq}, in order, each once`);
};

const busyWith = (turn: number, type: string): Either.Either<Refusal, never> =>
  refuse("busy", `turn ${turn} is open or about to be; wait for its end or cancel it before "${type}"`);

/**
 * Returns how many UTF-16 units the first `characters` characters of an answer take. A character is a grapheme of
 * Unicode's UAX 29. The number is journalled, because another version of Unicode may count otherwise.
 */
const charactersOf = (answer: string, characters: number): number => {
  let units = 0;
  let seen = 0;
  for (const { segment } of new Intl.Segmenter("und", { granularity: "grapheme" }).segment(answer)) {
    if (seen++ >= characters) break;
    units += segment.length;
  }
  return units;
};

/** Decides whether a message may be pinned. It must be on the path. */
const decidePin = (data: ConversationData, { message, pinned }: MessagePinned): Decision => {
  const { conversation, open } = data;
  if (!pinned) {
    return conversation.pins.some((pin) => pin.message === message)
      ? Either.right({})
      : refuse("unknown", `message "${message}" is not pinned`);
  }
  const number = Number.parseInt(message, 10);
  const next = number === conversation.turns.length + 1;
  const said = next
    ? [...conversation.appended, ...(open === null ? [] : messagesOfOpen(open))]
    : closedMessages(conversation, number);
  return said.some(({ id }) => id === message)
    ? Either.right({})
    : refuse("unknown", `there is no message "${message}" on the path; messagesOf lists them`);
};

const closedMessages = (thread: Thread, number: number): readonly Message[] => {
  if (number === 0) return thread.seed;
  const turn = isOnPath(thread, number) ? turnOf(thread, number) : undefined;
  return turn === undefined ? [] : toArray(turn.messages);
};

/** Decides whether the head can move to a place, and which pending summary becomes stale. */
export const decideMove = (data: ConversationData, to: HeadMoved["to"]): Decision => {
  const { conversation } = data;
  if (typeof to === "number")
    return to === 0 || turnOf(conversation, to) !== undefined ? Either.right(leaving(data, to)) : noTurn(data, to);
  const turn = checkpointOf(conversation, to.checkpoint);
  return turn === undefined
    ? refuse(
        "unknown",
        `no checkpoint "${to.checkpoint}"; there are: ${Object.keys(conversation.checkpoints).join(", ") || "none"}`,
      )
    : Either.right(leaving(data, turn));
};

/** Returns the number of the turn that is open or about to open, or null if there is none. */
export const turnAnswering = ({ open, waking, conversation }: ConversationData): number | null =>
  open?.number ?? (waking === null ? null : conversation.turns.length + 1);

/** Marks the pending summary as stale if the predicate says that it is useless now. */
const staleSummary = (data: ConversationData, isStale: (summarising: Summarising) => boolean): Decided =>
  data.summarising !== null && isStale(data.summarising) ? { summaryStale: true } : {};

/** Refuses an event that names a turn which does not exist. */
const noTurn = (data: ConversationData, turn: number): Either.Either<Refusal, never> => {
  const { length } = data.conversation.turns;
  return refuse("unknown", `no closed turn ${turn}; there are ${length === 0 ? "none" : `1 to ${length}`}`);
};

/** Decides a move of the head. The pending summary becomes stale if its turns leave the path. */
const leaving = (data: ConversationData, head: number): Decided =>
  staleSummary(data, ({ covers }) => !isBefore(data.conversation, covers.to, head));
