import { joinPartials } from "../../thread/make-message.ts";
import { without } from "../../thread/chunks.ts";
import type { ConversationData, OpenTurn, QueuedAsk, RoundCall, Summarising } from "../protocol/data.ts";
import {
  addTurn,
  annotate,
  appendMessage,
  appendRound,
  changeSystem,
  configure,
  moveHead,
  nameCheckpoint,
  pinMessage,
  redact,
  resetSystem,
  truncateAnswer,
} from "./edit.ts";
import { attemptCall, goOnCompacted, joinTurn, movedFor, openTurn } from "./turn-opening.ts";
import { type Awaited, awaited, callsOf, positionNamedBy, positionOut, waitId } from "../protocol/effect-id.ts";
import { type CallPlace, type Effect, publish, type Signal } from "../protocol/effect.ts";
import type { Decided } from "../protocol/entry.ts";
import type {
  AskReceived,
  CancelRequested,
  Event,
  LlmCompleted,
  LlmFailed,
  LlmProgressed,
  ThreadForked,
  TimerFired,
} from "../protocol/event.ts";
import { type Arrow, noEffects, type Plan, staying } from "./plan.ts";
import { receiveCheck } from "./output.ts";
import { receiveFailure, receiveReply } from "./reply.ts";
import { receiveApproval, receiveResult, receiveStart, withholdCall } from "./round.ts";
import { drop, interruptTurn, sizeOfPath, updated } from "./turn-closing.ts";
import { askSummary, calledOff, callOff, giveUp, receiveSummary, withdrawSummaries } from "./summary.ts";
import { enqueue, interruptFor, withdraw } from "./waiting-asks.ts";
import { turnOf } from "../../thread/thread.ts";
import { type Cost, type ReportedUsage, usageMonoid } from "../../thread/usage.ts";

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
    case "llm.failed":
    case "llm.progressed":
      return receiveModel(data, event, decided);
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
      return said(redact(data));
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
      return staying(configure(data, event));
  }
};

/** Publishes that the messages changed. While a turn is open, observers are notified when it ends. */
const said = (data: ConversationData): Plan =>
  staying(data, () => (data.open === null ? [publish(updated(data))] : []));

/** Adds the signals of decisions right after the signal of an opened turn. */
const reported = (plan: Plan, { fullness, policyFailed }: Decided): Plan => {
  if (fullness === undefined && policyFailed === undefined) return plan;
  const signals: Signal[] = policyFailed === undefined ? [] : [{ type: "policy.failed", reason: policyFailed }];
  const is = fullness?.is ?? plan.data.fullness;
  // A decided grade differs from the last one; a lower one needs no warning.
  const isFirst = plan.data.fullness === "within";
  if (fullness !== undefined && (is === "at_limit" || (is === "approaching_limit" && isFirst))) {
    const { tokens, available } = fullness;
    const { conversation, open } = plan.data;
    // A call is made only when no tool runs, so no messages wait here.
    const messages = sizeOfPath(conversation).messages + (open?.messages.length ?? 0);
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

const receiveModel = (
  data: ConversationData,
  event: LlmCompleted | LlmFailed | LlmProgressed,
  decided: Decided,
): Plan => {
  const call = awaited(data, event.effectId);
  if (call?.of === "summary")
    return event.type === "llm.progressed" ? staying(data) : endSummary(data, call.summarising, event, decided);
  if (call?.of !== "reply") return staying(data);
  switch (event.type) {
    case "llm.completed":
      return receiveReply(data, call.open, event, decided);
    case "llm.failed":
      return receiveFailure(data, call.open, event, decided);
    case "llm.progressed":
      return staying(progressed(data, call, event));
  }
};

/** Applies the outcome of the pending summary; a call that waited for it is made. */
const endSummary = (
  before: ConversationData,
  summarising: Summarising,
  event: LlmCompleted | LlmFailed,
  decided: Decided,
): Plan => {
  const { data, effects } = receiveSummary(before, summarising, event, decided);
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
  const timer = awaited(data, event.effectId);
  const { limit, results = [], opens = 1 } = decided;
  switch (timer?.of) {
    case "queue": {
      const rest = { ...data, queue: without(data.queue, 0, opens), waking: null };
      return openTurn(rest, data.queue.slice(0, opens), decided, event.at);
    }
    case "deadline": {
      if (limit === undefined) return staying(data);
      const open = { ...timer.open, deadlineAt: null };
      return interruptTurn(data, open, { partial: undefined, results }, { status: "failed", limit }, event.at);
    }
    case "wait":
      return stopWaiting(data, timer.open, timer.attempt, event, decided);
    case "retry":
      return attemptCall(data, timer.open, timer.attempt, decided, event.at);
    default:
      return staying(data);
  }
};

const cancel = (data: ConversationData, event: CancelRequested, decided: Decided): Plan => {
  const { open } = data;
  const withdrawn = event.askId === undefined ? undefined : withdraw(data, event.askId, event.at);
  if (withdrawn !== undefined) return withdrawn;
  if (open === null) return staying(data);
  const stopping = { partial: event.partial, usage: event.usage, results: decided.results ?? [] };
  return interruptTurn(data, open, stopping, { status: "cancelled", reason: event.reason ?? null }, event.at);
};

const progressed = (
  data: ConversationData,
  { open, call: before }: Awaited & { readonly of: "reply" },
  event: LlmProgressed,
): ConversationData => {
  const call = { ...before, partial: joinPartials(event.again === true ? null : before.partial, event.partial) };
  return { ...data, open: { ...open, stage: { type: "responding", call } } };
};

const askOf = ({ type: _, partial: __, from: ___, ...ask }: AskReceived): QueuedAsk => ask;

/** Drops all pending work from a copy of another thread. Nothing is cancelled, since the copy performs none of it. */
const forkData = (data: ConversationData, event: ThreadForked): Plan => {
  const { open, usage } = data;
  const left = drop(data, [...(open === null ? [] : asksOf(open)), ...data.queue], "left", event.at);
  return {
    data: {
      ...left,
      open: null,
      queue: [],
      waking: null,
      summarising: null,
      // The usage of the dropped open turn still counts.
      usage: open === null ? usage : { ...usage, betweenTurns: usageMonoid.concat(usage.betweenTurns, open.usage) },
      forkedFrom: event.from,
    },
    arrow: open === null ? "stays" : arrowAt(data),
    effects: noEffects,
  };
};

const asksOf = ({ asks, joining }: OpenTurn): readonly { readonly askId: string; readonly at: number }[] => [
  ...asks.map(({ askId, askedAt }) => ({ askId, at: askedAt })),
  ...joining,
];

/** Returns the arrow to the state in which the turn at the head ended. */
const arrowAt = ({ conversation }: ConversationData): Arrow => {
  const status = turnOf(conversation, conversation.head)?.outcome.status ?? "completed";
  return status === "completed" ? "completed" : "error";
};

/** Puts the signals of the calls that an event ends before its other effects. */
const withOutcomes = (before: ConversationData, event: Event, decided: Decided, plan: Plan): Plan =>
  endsCalls(event, decided)
    ? {
        data: plan.data,
        arrow: plan.arrow,
        effects: (prompts) => [...outcomesOf(before, event, decided).map(publish), ...plan.effects(prompts)],
      }
    : plan;

const endsCalls = ({ type }: Event, { results }: Decided): boolean =>
  results !== undefined ||
  type === "llm.completed" ||
  type === "llm.failed" ||
  type === "tool.completed" ||
  type === "tool.failed" ||
  type === "approval.answered";

const outcomesOf = (before: ConversationData, event: Event, decided: Decided): readonly Signal[] => {
  const { open, threadId } = before;
  switch (event.type) {
    case "llm.completed":
    case "llm.failed": {
      const written = event.type === "llm.completed" ? (event.reply.toolCalls ?? []) : [];
      return placesOf(before, event.effectId).flatMap((place) => [
        modelSignal(place, event, decided),
        ...decidedResults(place, written, decided),
      ]);
    }
    case "tool.completed":
    case "tool.failed": {
      const calls = callsOf(before);
      const position = positionOut(threadId, calls, event.effectId);
      const call = calls[position];
      const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
      return open === null || call === undefined
        ? []
        : [{ type: "tool.ended", turn: open.number, step: open.step, position, name: call.name, outcome }];
    }
    case "approval.answered": {
      const position = positionNamedBy(event.effectId);
      const call = callsOf(before)[position];
      if (open === null || event.approved || call?.approval?.status !== "requested") return [];
      const outcome = call.approval.because === "declared" ? "refused" : "unknown";
      return [{ type: "tool.ended", turn: open.number, step: open.step, position, name: call.name, outcome }];
    }
    default:
      return open === null
        ? []
        : decidedResults({ turn: open.number, step: open.step }, unanswered(callsOf(before)), decided);
  }
};

/** Returns the place of the model call that an accepted event answers; an empty list if it answers none. */
const placesOf = (before: ConversationData, effectId: string): readonly CallPlace[] => {
  const call = awaited(before, effectId);
  switch (call?.of) {
    case "summary":
      return [{ turn: call.summarising.turn ?? 0, step: 0, attempt: 1, purpose: "summary" }];
    case "reply":
      return [{ turn: call.open.number, step: call.open.step, attempt: call.attempt, purpose: "answer" }];
    default:
      return [];
  }
};

export const modelSignal = (place: CallPlace, event: LlmCompleted | LlmFailed, { cost }: Decided): Signal => {
  const { model, usage } = event;
  const priced: { model?: string; usage?: ReportedUsage; cost?: Cost } = {};
  if (model !== undefined) priced.model = model;
  if (usage !== undefined) priced.usage = usage;
  if (cost !== undefined) priced.cost = cost;
  return event.type === "llm.completed"
    ? {
        type: "model.replied",
        ...place,
        finishReason: event.finishReason,
        toolCalls: event.reply.toolCalls?.length ?? 0,
        ...priced,
      }
    : { type: "model.failed", ...place, failure: event.failure.kind, ...priced };
};

/** Returns signals of calls that never ran or were stopped. The machine gave their results. */
const decidedResults = (
  { turn, step }: Pick<CallPlace, "turn" | "step">,
  calls: readonly (Pick<RoundCall, "name"> | null)[],
  { results = [] }: Decided,
): readonly Signal[] =>
  results.flatMap(({ position, outcome }): readonly Signal[] => {
    const name = calls[position]?.name;
    return name === undefined ? [] : [{ type: "tool.ended", turn, step, position, name, outcome }];
  });

const unanswered = (calls: readonly RoundCall[]): readonly (RoundCall | null)[] =>
  calls.map((call) => (call.result === null ? call : null));
