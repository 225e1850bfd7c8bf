import type { ConversationData, OpenTurn } from "../protocol/data.ts";
import {
  checkId,
  deadlineId,
  isSameEffect,
  llmId,
  queueId,
  retryId,
  summaryId,
  waitId,
} from "../protocol/effect-id.ts";
import type { Event } from "../protocol/event.ts";
import { approvalOut, callsOf, positionNamedBy, runOut } from "./round-calls.ts";

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
