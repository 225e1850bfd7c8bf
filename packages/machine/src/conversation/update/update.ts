import { joinPartials } from "../../thread/draft.ts";
import { awaitsReply, isOfSummary } from "./awaited.ts";
import { without } from "../../thread/frozen.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "../protocol/data.ts";
import {
  addTurn,
  annotate,
  appendMessage,
  appendRound,
  changeSystem,
  movedFor,
  moveHead,
  nameCheckpoint,
  pinMessage,
  resetSystem,
  truncateAnswer,
} from "./edit.ts";
import { deadlineId, isSameEffect, queueId, retryId, waitId } from "../protocol/effect-id.ts";
import { type Effect, publish, type Signal } from "../protocol/effect.ts";
import type { Decided, Fullness } from "../protocol/entry.ts";
import type {
  AskReceived,
  CancelRequested,
  Event,
  LlmCompleted,
  LlmFailed,
  LlmProgressed,
  ThreadConfigured,
  TimerFired,
} from "../protocol/event.ts";
import { withOutcomes } from "./outcome-signals.ts";
import { type Plan, staying } from "./plan.ts";
import { forkData } from "./forked.ts";
import { joinTurn } from "./joining.ts";
import { receiveCheck } from "./output.ts";
import { redactData } from "./redacted.ts";
import { receiveFailure, receiveReply } from "./reply.ts";
import { receiveApproval, receiveResult, receiveStart, withholdCall } from "./round.ts";
import { interruptTurn } from "./turn-closing.ts";
import { askSummary, calledOff, callOff, giveUp, receiveSummary, withdrawSummaries } from "./summary.ts";
import { attemptCall, goOnCompacted, openTurn } from "./turn-opening.ts";
import { sizeOfPath, updated } from "./updated.ts";
import { enqueue, interruptFor, withdraw } from "./waiting-asks.ts";

/**
 * Applies an accepted event and the decision about it. It needs no configuration, so it alone folds a journal. An
 * event that does not fit the data only raises the count of entries.
 */
export const update = (before: ConversationData, event: Event, decided: Decided): Plan => {
  const data: ConversationData = { ...before, seq: before.seq + 1, updatedAt: event.at };
  let plan = withOutcomes(before, event, decided, reported(applied(data, event, decided), decided));
  const { summarising } = plan.data;
  if (decided.summaryStale === true && summarising !== null)
    plan = callOff(plan, summarising, "its turns are no longer those");
  return decided.summary === undefined ? plan : askSummary(plan, decided.summary);
};

const applied = (data: ConversationData, event: Event, decided: Decided): Plan => {
  const { open } = data;
  const round = open?.stage.type === "running" ? { data, open, calls: open.stage.calls } : null;
  switch (event.type) {
    case "ask.received":
      return receiveAsk(data, event, decided);
    case "llm.completed":
      if (isOfSummary(data, event.effectId)) return endSummary(data, event, decided);
      return open !== null && awaitsReply(data, open, event.effectId)
        ? receiveReply(data, open, event, decided)
        : staying(data);
    case "llm.failed":
      if (isOfSummary(data, event.effectId)) return endSummary(data, event, decided);
      return open !== null && awaitsReply(data, open, event.effectId)
        ? receiveFailure(data, open, event, decided)
        : staying(data);
    case "llm.progressed":
      return staying(open !== null && awaitsReply(data, open, event.effectId) ? progressed(data, open, event) : data);
    case "output.accepted":
    case "output.refused":
      return receiveCheck(data, event, decided);
    case "tool.started":
      return round === null ? staying(data) : receiveStart(round, event);
    case "tool.withheld":
      return round === null ? staying(data) : withholdCall(round, event);
    case "approval.answered":
      return round === null ? staying(data) : receiveApproval(round, event, decided);
    case "tool.completed":
    case "tool.failed":
      return round === null ? staying(data) : receiveResult(round, event, decided);
    case "timer.fired":
      return receiveTimer(data, event, decided);
    case "cancel.requested":
      return cancel(data, event, decided);
    case "message.appended":
      return said(appendMessage(data, event.message));
    case "round.appended":
      return said(appendRound(data, event));
    case "system.changed":
      return staying({ ...data, conversation: changeSystem(data.conversation, event.system) });
    case "system.reset":
      return staying({ ...data, conversation: resetSystem(data.conversation) });
    case "metadata.changed":
      return staying({ ...data, metadata: event.metadata });
    case "thread.forked":
      return forkData(data, event);
    case "thread.redacted":
      return said(redactData(data));
    case "turn.added":
      return said({ ...data, conversation: addTurn(data.conversation, event) });
    case "turn.annotated":
      return staying({ ...data, conversation: annotate(data.conversation, event) });
    case "answer.truncated":
      return said(
        withdrawSummaries(
          { ...data, conversation: truncateAnswer(data.conversation, event, decided.kept ?? 0) },
          event.turn,
        ),
      );
    case "head.moved":
      return said({ ...data, conversation: moveHead(data.conversation, event) });
    case "checkpoint.named":
      return staying({ ...data, conversation: nameCheckpoint(data.conversation, event.name, event.at) });
    case "message.pinned":
      return staying({ ...data, conversation: pinMessage(data.conversation, event) });
    case "thread.configured":
      return staying(configured(data, event));
  }
};

/** Publishes that the messages changed. While a turn is open, observers are notified when it ends. */
const said = (data: ConversationData): Plan => staying(data, () => (data.open === null ? [updated(data)] : []));

/** Adds the signals of decisions right after the signal of an opened turn. */
const reported = (plan: Plan, { fullness, policyFailed }: Decided): Plan => {
  if (fullness === undefined && policyFailed === undefined) return plan;
  const signals: Signal[] = policyFailed === undefined ? [] : [{ type: "policy.failed", reason: policyFailed }];
  const is = fullness?.is ?? plan.data.fullness;
  if (fullness !== undefined && is !== "within" && isFuller(is, plan.data.fullness)) {
    const { tokens, available } = fullness;
    const { conversation, open } = plan.data;
    // A call is made only when no tool runs, so no results wait here.
    const messages = sizeOfPath(conversation).messages + (open?.messages.length ?? 0) + (open?.waiting.length ?? 0);
    signals.push({ type: "context.warning", warning: is, messages, tokens, available });
  }
  const published = signals.map((signal): Effect => publish(signal));
  return {
    ...plan,
    data: { ...plan.data, fullness: is },
    effects: (prompts) => afterOpening(plan.effects(prompts), published),
  };
};

const afterOpening = (effects: readonly Effect[], published: readonly Effect[]): readonly Effect[] => {
  const [first] = effects;
  const opening = first?.type === "publish" && first.signal.type === "turn.started" ? 1 : 0;
  return effects.toSpliced(opening, 0, ...published);
};

/** Applies the outcome of the pending summary; a call that waited for it is made. */
const endSummary = (before: ConversationData, event: LlmCompleted | LlmFailed, decided: Decided): Plan => {
  if (before.summarising === null) return staying(before);
  const { data, effects } = receiveSummary(before, before.summarising, event, decided);
  const { open } = data;
  // The call keeps waiting if one summary was not enough and another is requested.
  if (open?.stage.type !== "compacting" || decided.compacting !== undefined) return staying(data, effects);
  const effectId = waitId(data.threadId, open.number, open.step, open.stage.attempt);
  const plan = goOnCompacted(data, open, open.stage.attempt, decided, event.at);
  return {
    ...plan,
    effects: (prompts) => [...effects(prompts), { type: "cancelTimer", effectId }, ...plan.effects(prompts)],
  };
};

/** Ends the wait of a call for its summary. */
const stopWaiting = (
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  event: TimerFired,
  decided: Decided,
): Plan => {
  const { summarising, threadId } = data;
  if (summarising === null) return goOnCompacted(data, open, attempt, decided, event.at);
  const after = giveUp(data, summarising);
  const plan = goOnCompacted(after, after.open ?? open, attempt, decided, event.at);
  const effects = calledOff(threadId, summarising, "it did not come in time");
  return { ...plan, effects: (prompts) => [...effects, ...plan.effects(prompts)] };
};

const receiveAsk = (data: ConversationData, event: AskReceived, decided: Decided): Plan => {
  const { open } = data;
  const ask = askOf(event);
  if (decided.queued !== undefined) return enqueue(data, ask, decided.queued, decided);
  if (open === null) return openTurn(movedFor(data, event), [ask], decided, ask.at);
  if (decided.joins === true) return joinTurn(data, open, ask);
  return decided.interrupts === true ? interruptFor(data, open, ask, event.partial, decided) : staying(data);
};

const receiveTimer = (data: ConversationData, event: TimerFired, decided: Decided): Plan => {
  const { open, queue, waking } = data;
  if (waking !== null && queue.length > 0 && isSameEffect(event.effectId, queueId(data.threadId, waking.seq))) {
    const opens = decided.opens ?? 1;
    return openTurn(
      { ...data, queue: without(queue, 0, opens), waking: null },
      queue.slice(0, opens),
      decided,
      event.at,
    );
  }
  if (open === null) return staying(data);
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
  if (
    stage.type === "compacting" &&
    isSameEffect(event.effectId, waitId(data.threadId, open.number, open.step, stage.attempt))
  ) {
    return stopWaiting(data, open, stage.attempt, event, decided);
  }
  return stage.type === "backing_off" &&
    isSameEffect(event.effectId, retryId(data.threadId, open.number, open.step, stage.attempt))
    ? attemptCall(data, open, stage.attempt, decided, event.at)
    : staying(data);
};

const cancel = (data: ConversationData, event: CancelRequested, decided: Decided): Plan => {
  const { open } = data;
  const withdrawn = event.askId === undefined ? undefined : withdraw(data, event.askId, event.at);
  if (withdrawn !== undefined) return withdrawn;
  if (open === null) return staying(data);
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
  // Another counter may count differently.
  measured: null,
  room: null,
  open: data.open === null ? null : uncounted(data.open),
});

const uncounted = (open: OpenTurn): OpenTurn =>
  open.stage.type === "responding"
    ? { ...open, stage: { ...open.stage, call: { ...open.stage.call, counted: null } } }
    : open;

const askOf = ({ type: _, partial: __, from: ___, ...ask }: AskReceived): QueuedAsk => ask;

/** Returns whether a prompt has a higher grade than the last one. */
const isFuller = (now: Fullness, before: Fullness): boolean => grades.indexOf(now) > grades.indexOf(before);

const grades: readonly Fullness[] = ["within", "approaching_limit", "at_limit"];
