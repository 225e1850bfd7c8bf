import { frozen } from "../thread/frozen.ts";
import type { Thread } from "../thread/thread.ts";
import type { ConversationData, OpenTurn } from "./protocol/data.ts";

// A spread of a frozen object takes eight times as long as a spread of an unfrozen one. To check whether an object is
// frozen takes as long as a small spread. A transition copies the same three objects a dozen times. So it works on
// unfrozen copies of them, made member by member, and does not check unchanged values again.

/**
 * Returns a frozen state's data for a transition to work on. Its three large objects are fresh, with their members in
 * the order of `begin` and `openTurn`. All other values are shared.
 */
export const thawed = (data: ConversationData): ConversationData => {
  return {
    threadId: data.threadId,
    seq: data.seq,
    createdAt: data.createdAt,
    updatedAt: data.updatedAt,
    metadata: data.metadata,
    conversation: thawedThread(data.conversation),
    usage: data.usage,
    open: data.open === null ? null : thawedTurn(data.open),
    queue: data.queue,
    waking: data.waking,
    cut: data.cut,
    configuration: data.configuration,
    model: data.model,
    summarising: data.summarising,
    summaries: data.summaries,
    fullness: data.fullness,
    measured: data.measured,
    room: data.room,
    dropped: data.dropped,
    forkedFrom: data.forkedFrom,
  } satisfies { readonly [Member in keyof Required<ConversationData>]: unknown };
};

/** Freezes the data after a transition. Values shared with `before` are frozen already. */
export const frozenSince = (after: ConversationData, before: ConversationData): void => {
  freezeThread(after.conversation, before.conversation);
  if (after.open !== null) freezeTurn(after.open, before.open);
  if (after.usage !== before.usage) frozen(after.usage);
  if (after.queue !== before.queue) frozen(after.queue);
  if (after.waking !== before.waking) frozen(after.waking);
  if (after.summarising !== before.summarising) frozen(after.summarising);
  if (after.measured !== before.measured) frozen(after.measured);
  if (after.room !== before.room) frozen(after.room);
  if (after.dropped !== before.dropped) frozen(after.dropped);
  Object.freeze(after);
};

// Some values are frozen when they are created, or never change: event content, decisions, messages and usage of a
// turn, and the thread's beginning. They are not checked. The other members are named one by one, because access by a
// variable name takes ten times as long.

const freezeThread = (after: Thread, before: Thread): void => {
  if (after === before) return;
  if (after.turns !== before.turns) frozen(after.turns);
  if (after.appended !== before.appended) frozen(after.appended);
  if (after.pins !== before.pins) frozen(after.pins);
  if (after.shortened !== before.shortened) frozen(after.shortened);
  if (after.checkpoints !== before.checkpoints) frozen(after.checkpoints);
  Object.freeze(after);
};

const freezeTurn = (after: OpenTurn, before: OpenTurn | null): void => {
  if (after.asks !== before?.asks) frozen(after.asks);
  if (after.waiting !== before?.waiting) frozen(after.waiting);
  if (after.joining !== before?.joining) frozen(after.joining);
  if (after.metadata !== before?.metadata) frozen(after.metadata);
  if (after.model !== before?.model) frozen(after.model);
  if (after.callerTools !== before?.callerTools) frozen(after.callerTools);
  if (after.limits !== before?.limits) frozen(after.limits);
  if (after.refusedOutputs !== before?.refusedOutputs) frozen(after.refusedOutputs);
  if (after.stage !== before?.stage) frozen(after.stage);
  Object.freeze(after);
};

const thawedThread = (thread: Thread): Thread => {
  const fresh = {
    system: thread.system,
    systems: thread.systems,
    firstSystem: thread.firstSystem,
    seed: thread.seed,
    turns: thread.turns,
    head: thread.head,
    appended: thread.appended,
    pins: thread.pins,
    shortened: thread.shortened,
    checkpoints: thread.checkpoints,
  } satisfies { readonly [Member in keyof Required<Omit<Thread, "appendedCharacters">>]: unknown };
  const { appendedCharacters } = thread;
  return appendedCharacters === undefined ? fresh : { ...fresh, appendedCharacters };
};

const thawedTurn = (open: OpenTurn): OpenTurn => {
  const fresh = {
    number: open.number,
    parent: open.parent,
    asks: open.asks,
    startedAt: open.startedAt,
    messages: open.messages,
    waiting: open.waiting,
    joining: open.joining,
    made: open.made,
    step: open.step,
    toolCalls: open.toolCalls,
    usage: open.usage,
    answer: open.answer,
    metadata: open.metadata,
    model: open.model,
    limits: open.limits,
    deadlineAt: open.deadlineAt,
    stage: open.stage,
  } satisfies {
    readonly [Member in keyof Required<Omit<OpenTurn, "callerTools" | "output" | "refusedOutputs">>]: unknown;
  };
  const { callerTools, output, refusedOutputs } = open;
  if (callerTools === undefined && output === undefined) return fresh;
  return {
    ...fresh,
    ...(callerTools === undefined ? {} : { callerTools }),
    ...(output === undefined ? {} : { output }),
    ...(refusedOutputs === undefined ? {} : { refusedOutputs }),
  };
};
