// Closes turns: with their answer, or stopped from outside, and publishes the new size of the thread.
import { marked, messageFromPartial, messageFromResult } from "../../thread/make-message.ts";
import { type Fresh, frozen } from "../../thread/plain-data.ts";
import type { Message, ReplyDraft } from "../../thread/message.ts";
import type { AcceptedOutput, Turn, TurnOutcome } from "../../thread/turn.ts";
import { isOnPath, placeAfter, sizeOf, sizeOfAppended, type Thread, turnOf } from "../../thread/thread.ts";
import { append, at as messageAt, chunksOf, toArray } from "../../thread/chunks.ts";
import { type ReportedUsage, usageMonoid, usageOfCall } from "../../thread/usage.ts";
import {
  type ConversationData,
  type DroppedAsk,
  type DroppedBecause,
  type OpenTurn,
  type QueuedAsk,
  remembered,
  type RoundCall,
  type Waking,
} from "../protocol/data.ts";
import { approvalOut, checkId, deadlineId, llmId, retryId, toolId, waitId } from "../protocol/effect-id.ts";
import type { SynthesisedResult } from "../protocol/entry.ts";
import { queueTimer } from "./call.ts";
import type { Plan } from "./plan.ts";
import { type Effect, publish, type Signal } from "../protocol/effect.ts";

/** Closes the open turn with the messages it has, moves the head to it, and wakes the queue. */
export const closeTurn = (
  data: ConversationData,
  open: OpenTurn,
  outcome: TurnOutcome,
  at: number,
  output?: AcceptedOutput,
): Plan => {
  const turn = closedTurn(data.conversation, withoutRefused(flushWaiting(open)), outcome, at, output);
  const conversation = {
    ...data.conversation,
    turns: append(data.conversation.turns, turn),
    head: turn.number,
  };
  const waking: Waking | null = data.queue.length === 0 ? null : { seq: data.seq, dueAt: at };
  const after = { ...drop(data, open.joining, "returned", at), conversation, open: null, waking };
  return {
    data: after,
    arrow: outcome.status === "completed" ? "completed" : "error",
    effects: () => {
      // The turn ended before a prompt could show the asks that joined it.
      const returned = open.joining.map(({ askId }): Signal => ({ type: "ask.returned", askId, turn: open.number }));
      return [
        ...cancelDeadline(data.threadId, open),
        ...[...signalsOf(turn), ...returned, updated(after)].map(publish),
        ...(waking === null ? [] : [queueTimer(data.threadId, waking)]),
      ];
    },
  };
};

/** Returns an open turn as a closed one, frozen. */
export const closedTurn = (
  thread: Thread,
  open: OpenTurn,
  outcome: TurnOutcome,
  at: number,
  output?: AcceptedOutput,
): Turn => {
  const turn: Fresh<Turn> = {
    number: open.number,
    parent: open.parent,
    asks: open.asks,
    outcome,
    messages: open.messages,
    usage: open.usage,
    steps: open.step,
    toolCalls: open.toolCalls,
    startedAt: open.startedAt,
    endedAt: at,
    place: placeAfter(thread, open.parent, open.number, toArray(open.messages)),
  };
  if (open.answer !== null) turn.answer = open.answer;
  if (open.metadata !== null) turn.metadata = open.metadata;
  if (output !== undefined) turn.output = output;
  if (open.refusedOutputs !== undefined) turn.refusedOutputs = open.refusedOutputs;
  return frozen(turn);
};

/** The known facts when a turn is stopped from outside. */
export interface Stopping {
  /** The shown part of the reply. */
  readonly partial: ReplyDraft | undefined;
  readonly usage?: ReportedUsage | undefined;
  /** Results for the calls that have none. */
  readonly results: readonly SynthesisedResult[];
}

/** Stops the open turn: outstanding effects are cancelled, and the shown part of the reply is kept and marked. */
export const interruptTurn = (
  data: ConversationData,
  open: OpenTurn,
  stopping: Stopping,
  outcome: TurnOutcome,
  at: number,
): Plan => {
  const stopped = stop(data, open, stopping);
  const closed = closeTurn(stopped.data, stopped.open, outcome, at);
  return { ...closed, effects: (prompts) => [...cancellations(data.threadId, open), ...closed.effects(prompts)] };
};

/** Removes refused answers and the repair requests from the turn's messages. The turn stores them separately. */
const withoutRefused = (open: OpenTurn): OpenTurn => {
  if (open.refusedOutputs === undefined) return open;
  const ids = new Set(open.refusedOutputs.flatMap(({ reply, request }) => [reply.id, request?.id]));
  return { ...open, messages: chunksOf(toArray(open.messages).filter(({ id }) => !ids.has(id))) };
};

/** Moves messages that were appended while an effect was outstanding into the turn. */
export const flushWaiting = (open: OpenTurn): OpenTurn =>
  open.waiting.length === 0
    ? open
    : {
        ...open,
        messages: open.waiting.reduce((messages, message) => append(messages, message), open.messages),
        waiting: [],
      };

/** Adds the results of the finished round to the turn, in call order. */
export const settleRound = (open: OpenTurn, calls: readonly RoundCall[]): OpenTurn =>
  flushWaiting({ ...open, messages: withResults(open.messages, calls) });

/** Returns a turn's messages with the results of its calls. The call at `position` has the result `last`. */
export const withResults = (
  messages: OpenTurn["messages"],
  calls: readonly RoundCall[],
  position = -1,
  last: Message | null = null,
): OpenTurn["messages"] =>
  calls.reduce((all, call, index) => {
    const result = index === position ? last : call.result;
    return result === null ? all : append(all, result);
  }, messages);

/** Adds decided results to the calls of a round that have none yet. */
export const answerFrom = (
  calls: readonly RoundCall[],
  results: readonly SynthesisedResult[],
): readonly RoundCall[] => {
  const byPosition = new Map(results.map((result) => [result.position, result]));
  return calls.map((call, position) => {
    const decided = byPosition.get(position);
    return call.result !== null || decided === undefined ? call : { ...call, result: synthesise(call, decided) };
  });
};

const synthesise = (call: RoundCall, result: Omit<SynthesisedResult, "position">): Message =>
  marked(messageFromResult(call, result.outcome, result.content), { synthesised: true });

/** A call without a decided result is interrupted, because a closed turn has no open calls. */
const answerAll = (calls: readonly RoundCall[], results: readonly SynthesisedResult[]): readonly RoundCall[] =>
  answerFrom(calls, results).map((call) =>
    call.result === null ? { ...call, result: synthesise(call, { outcome: "interrupted", content: [] }) } : call,
  );

const stop = (
  data: ConversationData,
  open: OpenTurn,
  { partial, usage, results }: Stopping,
): { readonly data: ConversationData; readonly open: OpenTurn } => {
  switch (open.stage.type) {
    case "backing_off":
    case "compacting":
      return { data, open };
    case "responding": {
      // Unreported usage counts as unknown, not as zero.
      const used = usageOfCall(usage ?? null, null);
      const shown = messageFromPartial(`${open.number}.${open.made}`, partial ?? open.stage.call.partial);
      return {
        data: { ...data, usage: { ...data.usage, total: usageMonoid.concat(data.usage.total, used) } },
        open: withAnswer({ ...open, usage: usageMonoid.concat(open.usage, used) }, shown),
      };
    }
    // The reply is complete but unchecked, so it becomes the answer and never an output.
    case "checking":
      return { data, open: { ...open, answer: messageAt(open.messages, open.messages.length - 1)?.id ?? null } };
    case "running":
      return { data, open: settleRound(open, answerAll(open.stage.calls, results)) };
  }
};

/** Ends a turn with its last message, complete or not; null for none. */
export const withAnswer = (open: OpenTurn, message: Message | null): OpenTurn =>
  message === null ? open : { ...open, messages: append(open.messages, message), answer: message.id };

const cancellations = (threadId: string, open: OpenTurn): readonly Effect[] => {
  switch (open.stage.type) {
    case "compacting":
      return [{ type: "cancelTimer", effectId: waitId(threadId, open.number, open.step, open.stage.attempt) }];
    case "responding":
      return [{ type: "cancelLlm", effectId: llmId(threadId, open.number, open.step, open.stage.call.attempt) }];
    case "checking":
      return [{ type: "cancelCheck", effectId: checkId(threadId, open.number, open.step) }];
    case "backing_off":
      return [{ type: "cancelTimer", effectId: retryId(threadId, open.number, open.step, open.stage.attempt) }];
    case "running":
      return open.stage.calls
        .filter((call) => call.result === null)
        .map((call) => {
          const approval = approvalOut(threadId, call);
          return approval === undefined
            ? { type: "cancelTool", effectId: toolId(threadId, call.callId, call.attempt) }
            : { type: "cancelApproval", effectId: approval };
        });
  }
};

const cancelDeadline = (threadId: string, open: OpenTurn): readonly Effect[] =>
  open.deadlineAt === null ? [] : [{ type: "cancelTimer", effectId: deadlineId(threadId, open.number) }];

const signalsOf = ({ outcome, number }: Turn): readonly Signal[] => {
  const ended: Signal = { type: "turn.ended", turn: number, status: outcome.status };
  if ("unfit" in outcome) return [{ type: "context.unfit", turn: number, unfit: outcome.unfit }, ended];
  return "limit" in outcome ? [{ type: "limit.reached", turn: number, reached: outcome.limit }, ended] : [ended];
};

/** Records that no turn will answer these asks. */
export const drop = (
  data: ConversationData,
  asks: readonly Pick<QueuedAsk, "askId" | "at">[],
  because: DroppedBecause,
  droppedAt: number,
): ConversationData => {
  if (asks.length === 0) return data;
  const added = asks.map(({ askId, at }): DroppedAsk => ({ askId, askedAt: at, droppedAt, because }));
  return { ...data, dropped: [...data.dropped, ...added].slice(-remembered) };
};

/** Returns the signal that the messages changed, with their new size. The cost does not depend on the length. */
export const updated = ({ conversation, usage }: ConversationData): Signal => ({
  type: "thread.updated",
  ...sizeOfPath(conversation),
  usage: usage.total,
});

/** Returns the size of a thread's path: closed turns, the seed and messages that wait to lead the next turn. */
export const sizeOfPath = (
  thread: Thread,
): { readonly turns: number; readonly messages: number; readonly characters: number } => {
  const waiting = sizeOfAppended(thread);
  const closed = turnOf(thread, thread.head)?.place ?? { turns: 0, ...sizeOf(thread.seed) };
  const cut = thread.shortened.reduce(
    (sum, { turn, characters }) => (isOnPath(thread, turn) ? sum + characters : sum),
    0,
  );
  return {
    turns: closed.turns,
    messages: closed.messages + waiting.messages,
    characters: closed.characters + waiting.characters - cut,
  };
};
