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

/** A recorded conversation as another configuration can go through it: what was said, apart from what prompts showed of it. */
export interface RecordedSteps {
  /** What the thread began with. */
  readonly beginning: ConversationData;
  /** In order. Calls that were made elsewhere stand before the event that brought them. */
  readonly steps: readonly (RecordedStep | ImportedCall)[];
  readonly summaries: readonly RecordedSummary[];
}

/** One event, and what was decided about it that is not about prompts. */
export interface RecordedStep {
  readonly type: "event";
  readonly entry: LaterEntry;
  readonly decided: Decided;
  /** The event is the outcome of this summary. */
  readonly outcomeOf: RecordedSummary | null;
  /** The digest of the prompt of the call that it asks for, where it asks for one. */
  readonly sent: string | null;
}

/** A summary that the recorded machine asked for. */
export interface RecordedSummary extends SummaryWanted {
  /** The entry that asked for it. */
  readonly askedAt: number;
  /** What the model wrote; null where it can't be used, or never came. */
  readonly reply: LlmCompleted | null;
}

/** Reads a journal for going through it under other configurations. */
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

/** The outcome of the summary that is being written, if the entry is that. One is written at a time, so it is the newest. */
const outcomeIn = ({ event }: LaterEntry, { context }: State): LlmCompleted | LlmFailed | null => {
  const { summarising, threadId } = context;
  if (summarising === null || (event.type !== "llm.completed" && event.type !== "llm.failed")) return null;
  return isSameEffect(event.effectId, summaryId(threadId, summarising.number)) ? event : null;
};

/** A new call is another object than the one before. */
const sentAfter = (before: State, after: State): string | null => {
  const stage = after.context.open?.stage;
  const last = before.context.open?.stage;
  if (stage?.type !== "responding" || (last?.type === "responding" && last.call === stage.call)) return null;
  const call = outstanding(after).find((effect) => effect.type === "callLlm" && effect.purpose === "answer");
  return call?.type === "callLlm" ? call.promptDigest : null;
};

const usableReply = (event: LlmCompleted | LlmFailed, decided: Decided = {}): LlmCompleted | null =>
  event.type === "llm.completed" && decided.summaryFailed === undefined ? event : null;
