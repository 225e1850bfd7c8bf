// The ids of effects, and whether the open turn waits for the effect of an id.
import { callIdIn } from "../../thread/make-message.ts";
import type { ConversationData, RoundCall, OpenTurn } from "./data.ts";
import type { Event } from "./event.ts";

// Ids are derived from thread, turn, step, position and attempt, so they are the same on every host. The numbers come
// last, so two different effects have different ids, whatever a thread id contains.

/** Returns the id of a model call. */
export const llmId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}`;

/** Returns the id of the model call that writes a summary. */
export const summaryId = (threadId: string, number: number): string => `${threadId}/summary-${number}#1`;

/** Returns the id of the check whether a step's reply is the requested output. */
export const checkId = (threadId: string, turn: number, step: number): string => `${threadId}/${turn}.${step}!output`;

/** Returns the prefix of the ids of a step's tool calls. */
export const stepId = (turn: number, step: number): string => `${turn}.${step}`;

/**
 * Returns the id of a tool call in its thread. It is known from the first piece of a reply on, and used alike in
 * messages, parts and effects.
 */
export const callIdAt = (turn: number, step: number, position: number): string =>
  callIdIn(stepId(turn, step), position);

/** Returns the id of the effect that runs a tool call. */
export const toolId = (threadId: string, callId: string, attempt: number): string => `${threadId}/${callId}#${attempt}`;

/** Returns the id of a request to approve a tool call. There may be several for one call. */
export const approvalId = (threadId: string, callId: string, number: number): string =>
  `${threadId}/${callId}!approval-${number}`;

/** Returns the id of the timer between two attempts of a model call. */
export const retryId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}!retry`;

/** Returns the id of the timer that bounds the wait for a summary; `step` is that of the last model call. */
export const waitId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}!summary`;

/** Returns the id of the timer that bounds a turn. */
export const deadlineId = (threadId: string, turn: number): string => `${threadId}/${turn}!deadline`;

/** Returns the id of the timer that opens the next turn from the queue; `seq` is that of the entry that started it. */
export const queueId = (threadId: string, seq: number): string => `${threadId}/${seq}!queue`;

/**
 * Returns whether two ids name the same effect, apart from the thread. So a journal that was copied to another thread
 * id folds to the same conversation. Code that accepts answers from outside compares whole ids.
 */
export const isSameEffect = (left: string, right: string): boolean => placeIn(left) === placeIn(right);

/**
 * Returns the turn of an effect by its id. Returns null for effects outside turns: summaries and the timer of the
 * queue.
 */
export const turnOfEffect = (effectId: string): number | null => {
  const number = /^(\d+)(?:\.|!deadline$)/u.exec(placeIn(effectId))?.[1];
  return number === undefined ? null : Number(number);
};

/** Returns the id of an effect without its thread: its place in the conversation. */
export const placeIn = (effectId: string): string => effectId.slice(effectId.lastIndexOf("/") + 1);

// A reply may ask for thousands of calls, whose answers arrive one by one. None of them may cost a walk over all
// others.

/** Returns the calls of the open round; empty if there is none. */
export const callsOf = ({ open }: ConversationData): readonly RoundCall[] =>
  open?.stage.type === "running" ? open.stage.calls : [];

/** Returns the position in its round that an effect's id names. It does not check that the round has a call there. */
export const positionNamedBy = (effectId: string): number => {
  const place = placeIn(effectId);
  const end = place.search(/[#!]/u);
  return Number(place.slice(place.lastIndexOf(".", end) + 1, end));
};

/**
 * Returns the position of the unanswered call whose run has this effect id, or -1. The thread in the id is ignored.
 */
export const positionOut = (threadId: string, calls: readonly RoundCall[], effectId: string): number => {
  const position = positionNamedBy(effectId);
  const call = calls[position];
  return call?.result === null && isSameEffect(toolId(threadId, call.callId, call.attempt), effectId) ? position : -1;
};

/**
 * Returns whether all calls of a round are answered, apart from the one at `but`. Most rounds are answered in order,
 * so it starts with the newest.
 */
export const allAnswered = (calls: readonly RoundCall[], but?: number): boolean =>
  calls.findLastIndex(({ result }, index) => result === null && index !== but) === -1;

/** Returns whether an unanswered call runs or may run. If not, all unanswered calls wait for an approval. */
export const someRun = (calls: readonly RoundCall[]): boolean => calls.findLastIndex(runs) !== -1;

/**
 * Returns whether a host must run an unanswered call. If not, the turn waits for approvals and the caller's results.
 */
export const someRunHere = (calls: readonly RoundCall[]): boolean =>
  calls.findLastIndex((call) => call.by === undefined && runs(call)) !== -1;

/**
 * Returns the id of the effect that runs a call; undefined while its approval is requested, and after the call is
 * answered.
 */
export const runOut = (threadId: string, call: RoundCall): string | undefined =>
  runs(call) ? toolId(threadId, call.callId, call.attempt) : undefined;

/** Returns the id of a call's `requestApproval` effect; undefined if no approval is requested. */
export const approvalOut = (threadId: string, { callId, approval, result }: RoundCall): string | undefined =>
  result === null && approval?.status === "requested" ? approvalId(threadId, callId, approval.number) : undefined;

const runs = ({ result, approval }: RoundCall): boolean => result === null && approval?.status !== "requested";

/**
 * Returns whether an event is awaited. An answer must name an outstanding effect; as in `fold`, the thread's id is
 * ignored. Any other event is not an answer.
 */
export const isAwaited = (data: ConversationData, event: Event): boolean => {
  switch (event.type) {
    case "llm.completed":
    case "llm.failed":
    case "llm.progressed":
      return isOfSummary(data, event.effectId) || (data.open !== null && awaitsReply(data, data.open, event.effectId));
    case "output.accepted":
    case "output.refused":
      return data.open !== null && awaitsCheck(data, data.open, event.effectId);
    case "tool.started":
    case "tool.withheld":
    case "tool.completed":
    case "tool.failed": {
      const call = callsOf(data)[positionNamedBy(event.effectId)];
      const run = call === undefined ? undefined : runOut(data.threadId, call);
      return (
        run !== undefined && isSameEffect(event.effectId, run) && !(event.type === "tool.started" && call?.started)
      );
    }
    case "approval.answered": {
      const call = callsOf(data)[positionNamedBy(event.effectId)];
      const asked = call === undefined ? undefined : approvalOut(data.threadId, call);
      return asked !== undefined && isSameEffect(event.effectId, asked);
    }
    case "timer.fired":
      return timersOf(data).some((id) => isSameEffect(event.effectId, id));
    default:
      return true;
  }
};

/** Returns whether an effect's id is that of the pending summary. */
export const isOfSummary = ({ threadId, summarising }: ConversationData, effectId: string): boolean =>
  summarising !== null && isSameEffect(effectId, summaryId(threadId, summarising.number));

/** Returns whether an effect's id is that of the model call that the open turn waits for. */
export const awaitsReply = (
  { threadId }: ConversationData,
  { number, step, stage }: OpenTurn,
  effectId: string,
): boolean => stage.type === "responding" && isSameEffect(effectId, llmId(threadId, number, step, stage.call.attempt));

/** Returns whether an effect's id is that of the check that the open turn waits for. */
export const awaitsCheck = (
  { threadId }: ConversationData,
  { number, step, stage }: OpenTurn,
  effectId: string,
): boolean => stage.type === "checking" && isSameEffect(effectId, checkId(threadId, number, step));

const timersOf = ({ threadId, open, waking }: ConversationData): readonly string[] => {
  if (open === null) return waking === null ? [] : [queueId(threadId, waking.seq)];
  const { number, step, stage } = open;
  return [
    ...(open.deadlineAt === null ? [] : [deadlineId(threadId, number)]),
    ...(stage.type === "backing_off" ? [retryId(threadId, number, step, stage.attempt)] : []),
    ...(stage.type === "compacting" ? [waitId(threadId, number, step, stage.attempt)] : []),
  ];
};
