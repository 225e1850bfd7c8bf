// The ids of effects, and whether the open turn waits for the effect of an id.
import { callIdIn } from "../../thread/make-message.ts";
import type { ConversationData, OpenTurn, OutstandingCall, RoundCall, Summarising } from "./data.ts";
import type { Event } from "./event.ts";

// Ids are derived from thread, turn, step, position and attempt, so they are the same on every host. The numbers come
// last, so two different effects have different ids, whatever a thread id contains.

/** Returns the id of a model call. */
export const llmId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}`;

export const summaryId = (threadId: string, number: number): string => `${threadId}/summary-${number}#1`;

export const checkId = (threadId: string, turn: number, step: number): string => `${threadId}/${turn}.${step}!output`;

/** Returns the prefix of the ids of a step's tool calls. */
export const stepId = (turn: number, step: number): string => `${turn}.${step}`;

/**
 * Returns the id of a tool call in its thread. It is known from the first piece of a reply on, and used alike in
 * messages, parts and effects.
 */
export const callIdAt = (turn: number, step: number, position: number): string =>
  callIdIn(stepId(turn, step), position);

export const toolId = (threadId: string, callId: string, attempt: number): string => `${threadId}/${callId}#${attempt}`;

/** Returns the id of a request to approve a tool call. There may be several for one call. */
export const approvalId = (threadId: string, callId: string, number: number): string =>
  `${threadId}/${callId}!approval-${number}`;

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

/** Returns the position of the unanswered call whose run has this id, whatever the thread, or -1. */
export const positionOut = (threadId: string, calls: readonly RoundCall[], effectId: string): number => {
  const position = positionNamedBy(effectId);
  const call = calls[position];
  return call?.result === null && isSameEffect(toolId(threadId, call.callId, call.attempt), effectId) ? position : -1;
};

/** Returns whether all calls are answered, apart from the one at `but`. Most are answered in order. */
export const allAnswered = (calls: readonly RoundCall[], but?: number): boolean => {
  // A loop: `findLastIndex` takes several times as long on a frozen list.
  for (let index = calls.length - 1; index >= 0; index--)
    if (calls[index]?.result === null && index !== but) return false;
  return true;
};

/** Returns whether an unanswered call runs or may run. If not, all unanswered calls wait for an approval. */
export const someRun = (calls: readonly RoundCall[]): boolean => calls.findLastIndex(runs) !== -1;

/** Returns whether a host must run an unanswered call. If not, the turn waits for people. */
export const someRunHere = (calls: readonly RoundCall[]): boolean =>
  calls.findLastIndex((call) => call.by === undefined && runs(call)) !== -1;

/** Returns the id of the effect that runs a call; undefined while an approval is requested, and once answered. */
export const runOut = (threadId: string, call: RoundCall): string | undefined =>
  runs(call) ? toolId(threadId, call.callId, call.attempt) : undefined;

/** Returns the id of a call's `requestApproval` effect; undefined if no approval is requested. */
export const approvalOut = (threadId: string, { callId, approval, result }: RoundCall): string | undefined =>
  result === null && approval?.status === "requested" ? approvalId(threadId, callId, approval.number) : undefined;

const runs = ({ result, approval }: RoundCall): boolean => result === null && approval?.status !== "requested";

/** An outstanding effect other than a tool call or an approval, with the data that waits for it. */
export type Awaited = { readonly id: string } & (
  | { readonly of: "summary"; readonly summarising: Summarising }
  | { readonly of: "reply"; readonly open: OpenTurn; readonly attempt: number; readonly call: OutstandingCall }
  | { readonly of: "retry" | "wait"; readonly open: OpenTurn; readonly attempt: number }
  | { readonly of: "check"; readonly open: OpenTurn; readonly finishReason: string | null }
  | { readonly of: "deadline"; readonly open: OpenTurn; readonly dueAt: number }
  | { readonly of: "queue" }
);

/** Returns the outstanding model call, check or timer that an id names, apart from the thread; undefined for none. */
export const awaited = (data: ConversationData, effectId: string): Awaited | undefined => {
  const { threadId, open, queue, waking, summarising } = data;
  const place = placeIn(effectId);
  const ofStage = open === null ? undefined : awaitedOfStage(threadId, open);
  if (ofStage !== undefined && placeIn(ofStage.id) === place) return ofStage;
  if (summarising !== null) {
    const id = summaryId(threadId, summarising.number);
    if (placeIn(id) === place) return { of: "summary", id, summarising };
  }
  if (open !== null && open.deadlineAt !== null) {
    const id = deadlineId(threadId, open.number);
    return placeIn(id) === place ? { of: "deadline", id, open, dueAt: open.deadlineAt } : undefined;
  }
  if (open !== null || waking === null || queue.length === 0) return undefined;
  const id = queueId(threadId, waking.seq);
  return placeIn(id) === place ? { of: "queue", id } : undefined;
};

const awaitedOfStage = (threadId: string, open: OpenTurn): Awaited | undefined => {
  const { number, step, stage } = open;
  switch (stage.type) {
    case "responding": {
      const { call } = stage;
      return { of: "reply", id: llmId(threadId, number, step, call.attempt), open, attempt: call.attempt, call };
    }
    case "checking":
      return { of: "check", id: checkId(threadId, number, step), open, finishReason: stage.finishReason };
    case "backing_off":
      return { of: "retry", id: retryId(threadId, number, step, stage.attempt), open, attempt: stage.attempt };
    case "compacting":
      return { of: "wait", id: waitId(threadId, number, step, stage.attempt), open, attempt: stage.attempt };
    case "running":
      return undefined;
  }
};

/**
 * Returns whether an event is awaited. An answer must name an outstanding effect; as in `fold`, the thread's id is
 * ignored. Any other event is not an answer.
 */
export const isAwaited = (data: ConversationData, event: Event): boolean => {
  switch (event.type) {
    case "llm.completed":
    case "llm.failed":
    case "llm.progressed":
      return ["summary", "reply"].includes(awaited(data, event.effectId)?.of ?? "");
    case "output.accepted":
    case "output.refused":
      return awaited(data, event.effectId)?.of === "check";
    case "timer.fired":
      return ["queue", "deadline", "retry", "wait"].includes(awaited(data, event.effectId)?.of ?? "");
    case "tool.started":
    case "tool.withheld":
    case "tool.completed":
    case "tool.failed": {
      const call = callsOf(data)[positionNamedBy(event.effectId)];
      const run = call === undefined ? undefined : runOut(data.threadId, call);
      const isAgain = event.type === "tool.started" && call?.started === true;
      return run !== undefined && isSameEffect(event.effectId, run) && !isAgain;
    }
    case "approval.answered": {
      const call = callsOf(data)[positionNamedBy(event.effectId)];
      const asked = call === undefined ? undefined : approvalOut(data.threadId, call);
      return asked !== undefined && isSameEffect(event.effectId, asked);
    }
    default:
      return true;
  }
};
