import { joinPartials } from "../thread/draft.ts";
import type { ConversationData, OpenTurn } from "./data.ts";
import { remembered } from "./data.ts";
import { addTurn, annotate, appendMessage, changeSystem, moveHead, nameCheckpoint, truncateAnswer } from "./edit.ts";
import { deadlineId, isSameEffect, llmId, queueId, retryId } from "./effect-id.ts";
import type {
  AskReceived,
  CancelRequested,
  Decided,
  Event,
  LlmProgressed,
  ThreadConfigured,
  TimerFired,
} from "./event.ts";
import type { Plan } from "./plan.ts";
import { noEffects } from "./plan.ts";
import { receiveFailure, receiveReply } from "./reply.ts";
import { receiveResult, receiveStart } from "./result.ts";
import { interruptTurn } from "./turn-closing.ts";
import { attemptCall, openTurn } from "./turn-opening.ts";

/**
 * What an accepted event comes to, given what was decided about it. Needs no configuration: this alone folds a
 * journal. An event that does not fit the data changes nothing but the count of entries.
 */
export const update = (before: ConversationData, event: Event, decided: Decided): Plan => {
  const data: ConversationData = { ...before, seq: before.seq + 1, updatedAt: event.at };
  const { open } = data;
  switch (event.type) {
    case "ask.received":
      if (decided.queued !== undefined) return enqueue(data, event, decided.queued);
      return open === null ? openTurn(data, withoutType(event), decided, event.at) : stays(data);
    case "llm.completed":
      return open !== null && awaitsReply(data, open, event.effectId)
        ? receiveReply(data, open, event, decided)
        : stays(data);
    case "llm.failed":
      return open !== null && awaitsReply(data, open, event.effectId)
        ? receiveFailure(data, open, event, decided)
        : stays(data);
    case "llm.progressed":
      return stays(open !== null && awaitsReply(data, open, event.effectId) ? progressed(data, open, event) : data);
    case "tool.started":
      return open?.stage.type === "running" ? receiveStart(data, open, open.stage.calls, event) : stays(data);
    case "tool.completed":
    case "tool.failed":
      return open?.stage.type === "running" ? receiveResult(data, open, open.stage.calls, event, decided) : stays(data);
    case "timer.fired":
      return receiveTimer(data, event, decided);
    case "cancel.requested":
      return cancel(data, event, decided);
    case "message.appended":
      return stays(appendMessage(data, event.message));
    case "system.changed":
      return stays({ ...data, conversation: changeSystem(data.conversation, event.system) });
    case "turn.added":
      return stays({ ...data, conversation: addTurn(data.conversation, event) });
    case "turn.annotated":
      return stays({ ...data, conversation: annotate(data.conversation, event) });
    case "answer.truncated":
      return stays({ ...data, conversation: truncateAnswer(data.conversation, event, decided.kept ?? 0) });
    case "head.moved":
      return stays({ ...data, conversation: moveHead(data.conversation, event) });
    case "checkpoint.named":
      return stays({ ...data, conversation: nameCheckpoint(data.conversation, event.name, event.at) });
    case "thread.configured":
      return stays(configured(data, event));
  }
};

const stays = (data: ConversationData): Plan => ({ data, arrow: "stays", effects: noEffects });

const enqueue = (data: ConversationData, event: AskReceived, place: number): Plan => ({
  data: { ...data, queue: [...data.queue, withoutType(event)] },
  arrow: "stays",
  effects: () => [{ type: "publish", signal: { type: "ask.queued", askId: event.askId, place } }],
});

const awaitsReply = ({ threadId }: ConversationData, { number, step, stage }: OpenTurn, effectId: string): boolean =>
  stage.type === "responding" && isSameEffect(effectId, llmId(threadId, number, step, stage.call.attempt));

const receiveTimer = (data: ConversationData, event: TimerFired, decided: Decided): Plan => {
  const { open, queue, waking } = data;
  const next = queue[0];
  if (waking !== null && next !== undefined && isSameEffect(event.effectId, queueId(data.threadId, waking.seq))) {
    return openTurn({ ...data, queue: queue.slice(1), waking: null }, next, decided, event.at);
  }
  if (open === null) return stays(data);
  if (isSameEffect(event.effectId, deadlineId(data.threadId, open.number)) && decided.limit !== undefined) {
    const stopping = { partial: undefined, results: decided.results ?? [] };
    return interruptTurn(
      data,
      { ...open, deadlineAt: null },
      stopping,
      { status: "failed", limit: decided.limit },
      event.at,
    );
  }
  const { stage } = open;
  return stage.type === "backing_off" &&
    isSameEffect(event.effectId, retryId(data.threadId, open.number, open.step, stage.attempt))
    ? attemptCall(data, open, stage.attempt, decided)
    : stays(data);
};

const cancel = (data: ConversationData, event: CancelRequested, decided: Decided): Plan => {
  const { open, queue, waking } = data;
  const queued = queue.filter(({ askId }) => askId !== event.askId);
  if (event.askId !== undefined && queued.length < queue.length) {
    const { askId } = event;
    const asleep = waking !== null && queued.length === 0;
    return {
      data: {
        ...data,
        queue: queued,
        waking: asleep ? null : waking,
        withdrawn: [...data.withdrawn, askId].slice(-remembered),
      },
      arrow: "stays",
      effects: () => [
        ...(asleep ? [{ type: "cancelTimer" as const, effectId: queueId(data.threadId, waking.seq) }] : []),
        { type: "publish", signal: { type: "ask.withdrawn", askId } },
      ],
    };
  }
  if (open === null) return stays(data);
  const stopping = { partial: event.partial, usage: event.usage, results: decided.results ?? [] };
  return interruptTurn(data, open, stopping, { status: "cancelled", reason: event.reason ?? null }, event.at);
};

const progressed = (data: ConversationData, open: OpenTurn, event: LlmProgressed): ConversationData => {
  if (open.stage.type !== "responding") return data;
  const call = {
    ...open.stage.call,
    partial: joinPartials(event.again === true ? null : open.stage.call.partial, event.partial),
  };
  return { ...data, open: { ...open, stage: { type: "responding", call } } };
};

const configured = (data: ConversationData, event: ThreadConfigured): ConversationData => ({
  ...data,
  configuration: event.configuration,
  model: event.model ?? data.model,
});

const withoutType = ({ type: _, ...ask }: AskReceived): Omit<AskReceived, "type"> => ask;
