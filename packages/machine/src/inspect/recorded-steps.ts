import * as Either from "fp-ts/lib/Either.js";
import { awaited } from "../conversation/protocol/effect-id.ts";
import type { ConversationData, State } from "../conversation/protocol/data.ts";
import type { Decided, Entry, LaterEntry } from "../conversation/protocol/entry.ts";
import type { LlmCompleted, LlmFailed } from "../conversation/protocol/event.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import type { SummaryWanted } from "../prompt/policy.ts";
import { fold, foldVisiting, type JournalError } from "../journal/fold.ts";
import { withoutPrompts } from "./decision-difference.ts";
import { asksForAppendedRound } from "../conversation/update/edit.ts";
import type { Message } from "../thread/message.ts";
import { isThreadEmpty, turnOf } from "../thread/thread.ts";
import { at, type Chunks, chunksOf, toArray } from "../thread/chunks.ts";

/** A recorded conversation, its messages separate from what prompts showed of them. */
export interface RecordedSteps {
  /** The data that the thread began with. */
  readonly beginning: ConversationData;
  /** In order. Calls made elsewhere come before the event that brought them. */
  readonly steps: readonly (RecordedStep | ImportedCall)[];
  readonly summaries: readonly RecordedSummary[];
}

/** One event, with its decisions that do not concern prompts. */
export interface RecordedStep {
  readonly type: "event";
  readonly entry: LaterEntry;
  readonly decided: Decided;
  /** The summary whose outcome the event is. */
  readonly outcomeOf: RecordedSummary | null;
  /** The digest of the prompt that the event leads to, if it leads to a call. */
  readonly sent: string | null;
}

export interface RecordedSummary extends SummaryWanted {
  /** The entry that requested it. */
  readonly askedAt: number;
  /** The reply of the model; null if it is unusable or never came. */
  readonly reply: LlmCompleted | null;
}

/** Reads a journal so that other configurations can rehearse it. */
export const recordedSteps = (entries: readonly Entry[]): Either.Either<JournalError, RecordedSteps> => {
  const begun = fold(entries.slice(0, 1));
  if (Either.isLeft(begun)) return begun;
  const beginning = begun.right.context;
  const steps: (RecordedStep | ImportedCall)[] = [...callsOfSeed(beginning)];
  const summaries: RecordedSummary[] = [];
  const folded = foldVisiting(entries, (entry, before, after) => {
    const outcome = outcomeIn(entry, before);
    const asked = summaries.at(-1);
    const ended =
      outcome === null || asked === undefined ? null : { ...asked, reply: usableReply(outcome, entry.decided) };
    if (ended !== null) summaries[summaries.length - 1] = ended;
    steps.push(...callsOfAddedTurn(entry, before.context, after.context));
    steps.push(...callsOfRounds(entry, before.context, after.context));
    steps.push({
      type: "event",
      entry,
      decided: withoutPrompts(entry.decided),
      outcomeOf: ended,
      sent: sentAfter(before, after),
    });
    const { summary } = entry.decided ?? {};
    if (summary !== undefined) summaries.push({ ...summary, askedAt: entry.seq, reply: null });
  });
  return Either.isLeft(folded) ? folded : Either.right({ beginning, steps, summaries });
};

/** Only one summary is written at a time, so an outcome belongs to the newest. */
const outcomeIn = ({ event }: LaterEntry, { context }: State): LlmCompleted | LlmFailed | null => {
  if (event.type !== "llm.completed" && event.type !== "llm.failed") return null;
  return awaited(context, event.effectId)?.of === "summary" ? event : null;
};

/** A new call is a new object. */
const sentAfter = (before: State, after: State): string | null => {
  const stage = after.context.open?.stage;
  const last = before.context.open?.stage;
  if (stage?.type !== "responding" || (last?.type === "responding" && last.call === stage.call)) return null;
  const call = outstanding(after).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
  return call?.type === "callLlm" ? call.promptDigest : null;
};

const usableReply = (event: LlmCompleted | LlmFailed, decided: Decided = {}): LlmCompleted | null =>
  event.type === "llm.completed" && decided.summaryFailed === undefined ? event : null;

/**
 * A model call that was made elsewhere: the assistant message of a turn that was added whole, of an appended round, or
 * of the seed. Its real prompt is not recorded. This library can decide which prompt a configuration would have shown
 * here.
 */
export interface ImportedCall {
  readonly type: "imported";
  /** The entry that brought it. */
  readonly entry: Pick<Entry, "seq">;
  /** 0 for the seed. */
  readonly turn: number;
  readonly step: number;
  /** The messages before it in its turn; for a seed, from the last question on. */
  readonly messages: readonly Message[];
  /** The length of the seed before those messages; null if the whole seed precedes them. */
  readonly seedLength: number | null;
}

const callsOfSeed = ({ seq, conversation: { seed } }: ConversationData): readonly ImportedCall[] =>
  repliesFrom(0, seed).map((reply, index) => {
    const question = seed.slice(0, reply).findLastIndex(({ role }) => role === "user");
    let from = Math.max(question, 0);
    while (seed[from - 1]?.role === "user") from--;
    const messages = seed.slice(from, reply);
    return { type: "imported", entry: { seq }, turn: 0, step: index + 1, messages, seedLength: from };
  });

/** Returns the calls in the turn that an event added, if it added one. */
const callsOfAddedTurn = (entry: Entry, before: ConversationData, after: ConversationData): readonly ImportedCall[] => {
  if (entry.event.type !== "turn.added") return [];
  const number = before.conversation.turns.length + 1;
  const turn = turnOf(after.conversation, number);
  if (turn === undefined) return [];
  const messages = toArray(turn.messages);
  return repliesFrom(before.conversation.appended.length, messages).map((reply, index) => ({
    type: "imported",
    entry,
    turn: number,
    step: index + 1,
    messages: messages.slice(0, reply),
    seedLength: null,
  }));
};

/**
 * Returns the calls of appended rounds, each at the place where it joined its turn. Between turns that is at once, and
 * in an open turn after its outstanding effects. Such a round always counts as a call, whatever message precedes it.
 * If the thread was empty before it, there was no prompt and so no call.
 */
const callsOfRounds = (entry: Entry, before: ConversationData, after: ConversationData): readonly ImportedCall[] => {
  const { turns, appended } = before.conversation;
  if (entry.event.type === "round.appended" && before.open === null)
    return isThreadEmpty(before.conversation)
      ? []
      : callsFrom(entry, turns.length + 1, chunksOf(after.conversation.appended), appended.length);
  // Earlier appended messages lead a turn, and were found before.
  const known = before.open === null ? appended.length : before.open.messages.length;
  return grownTurns(before, after).flatMap(({ number, messages }) =>
    callsFrom(entry, number, messages, number === turns.length + 1 ? known : 0),
  );
};

/** Reads only new messages. */
const callsFrom = (entry: Entry, turn: number, messages: Chunks<Message>, first: number): readonly ImportedCall[] => {
  const calls: ImportedCall[] = [];
  for (let index = first; index < messages.length; index++) {
    const message = at(messages, index);
    if (message === undefined || !asksForAppendedRound(message)) continue;
    const said = toArray(messages).slice(0, index);
    const step = said.filter(({ role }) => role === "assistant").length + 1;
    calls.push({ type: "imported", entry, turn, step, messages: said, seedLength: null });
  }
  return calls;
};

/** Returns the turns to which an entry may have added messages: those that it closed, and the open one. */
const grownTurns = (before: ConversationData, { open, conversation: { turns } }: ConversationData) => {
  const closed: { readonly number: number; readonly messages: Chunks<Message> }[] = [];
  for (let index = before.conversation.turns.length; index < turns.length; index++) {
    const turn = at(turns, index);
    if (turn !== undefined) closed.push(turn);
  }
  return open === null ? closed : [...closed, open];
};

/** Returns the indices of messages with which a model answered a message of somebody else. */
const repliesFrom = (first: number, messages: readonly Message[]): readonly number[] =>
  messages.flatMap(({ role }, index) => {
    const before = messages[index - 1];
    const isReply = index >= first && role === "assistant" && before !== undefined && before.role !== "assistant";
    return isReply ? [index] : [];
  });
