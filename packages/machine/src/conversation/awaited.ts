import type { ConversationData, RoundCall } from "./data.ts";
import { approvalId, deadlineId, isSameEffect, llmId, queueId, retryId, summaryId, waitId } from "./effect-id.ts";
import type { Event } from "./event.ts";
import { positionNamedBy, positionOut } from "./round-calls.ts";

/** Whether somebody waits for what an event tells: an answer names something that is out, thread aside, as `fold` does. Any other event is no answer. */
export const isAwaited = (data: ConversationData, event: Event): boolean => {
  switch (event.type) {
    case "llm.completed":
    case "llm.failed":
    case "llm.progressed":
      return awaitsModel(data, event.effectId);
    case "tool.started":
    case "tool.withheld":
    case "tool.completed":
    case "tool.failed": {
      const call = callsOf(data)[positionOut(data.threadId, callsOf(data), event.effectId)];
      return (
        call !== undefined && call.approval?.status !== "requested" && !(event.type === "tool.started" && call.started)
      );
    }
    case "approval.answered": {
      const call = callsOf(data)[positionNamedBy(event.effectId)];
      return (
        call?.result === null &&
        call.approval?.status === "requested" &&
        isSameEffect(event.effectId, approvalId(data.threadId, call.callId, call.approval.number))
      );
    }
    case "timer.fired":
      return timersOf(data).some((id) => isSameEffect(event.effectId, id));
    default:
      return true;
  }
};

const awaitsModel = ({ threadId, open, summarising }: ConversationData, effectId: string): boolean =>
  (summarising !== null && isSameEffect(effectId, summaryId(threadId, summarising.number))) ||
  (open?.stage.type === "responding" &&
    isSameEffect(effectId, llmId(threadId, open.number, open.step, open.stage.call.attempt)));

/** The calls of the open round. */
const callsOf = ({ open }: ConversationData): readonly RoundCall[] =>
  open?.stage.type === "running" ? open.stage.calls : [];

const timersOf = ({ threadId, open, waking }: ConversationData): readonly string[] => {
  if (open === null) return waking === null ? [] : [queueId(threadId, waking.seq)];
  const { number, step, stage } = open;
  return [
    ...(open.deadlineAt === null ? [] : [deadlineId(threadId, number)]),
    ...(stage.type === "backing_off" ? [retryId(threadId, number, step, stage.attempt)] : []),
    ...(stage.type === "compacting" ? [waitId(threadId, number, step, stage.attempt)] : []),
  ];
};
