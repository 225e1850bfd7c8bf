import * as Either from "fp-ts/lib/Either.js";
import { isSameEffect, summaryId } from "../conversation/protocol/effect-id.ts";
import type { ConversationData } from "../conversation/protocol/data.ts";
import type { Entry, LaterEntry, Decided } from "../conversation/protocol/entry.ts";
import type { LlmCompleted, LlmFailed } from "../conversation/protocol/event.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import type { State } from "../conversation/protocol/state.ts";
import type { SummaryWanted } from "../prompt/policy.ts";
import { fold, foldVisiting, type JournalError } from "../journal/fold.ts";
import { callsOfAddedTurn, callsOfRounds, callsOfSeed, type ImportedCall } from "./imported-calls.ts";
import { withoutPrompts } from "./kinds-of-decision.ts";

/**
 * A recorded conversation that another configuration can rehearse: its messages, separate from what prompts showed of
 * them.
 */
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

/** A summary that the recorded machine requested. */
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

/**
 * Returns the outcome of the pending summary, if the entry is one. Only one is written at a time, so it is the newest.
 */
const outcomeIn = ({ event }: LaterEntry, { context }: State): LlmCompleted | LlmFailed | null => {
  const { summarising, threadId } = context;
  if (summarising === null || (event.type !== "llm.completed" && event.type !== "llm.failed")) return null;
  return isSameEffect(event.effectId, summaryId(threadId, summarising.number)) ? event : null;
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
