import { type Fresh, frozen, frozenCopy, owned } from "../../thread/plain-data.ts";
import type { Thread } from "../../thread/thread.ts";
import type { ConversationData, OpenTurn, State } from "./data.ts";
import type { Effect } from "./effect.ts";
import type { Decided } from "./entry.ts";

/**
 * Returns a state that the machine may hold: the same one if the machine created it, otherwise a frozen copy. A state
 * read from JSON belongs to the caller, even if its top level is frozen.
 */
export const ownedState = (state: State): State => {
  const { value, context } = state;
  if (!Object.isFrozen(context)) return owned({ value, context });
  return Object.isFrozen(context.conversation) ? state : frozenCopy({ value, context });
};

// A spread of a frozen object takes eight times as long as a spread of an unfrozen one. To check whether an object is
// frozen takes as long as a small spread. A transition copies the same three objects a dozen times. So it works on
// unfrozen copies of them, made member by member, and does not check unchanged values again.

/**
 * Returns a frozen state's data for a transition to work on. Its three large objects are fresh, with their members in
 * the order of `begin` and `openTurn`. All other values are shared.
 */
export const thawed = (data: ConversationData): ConversationData =>
  dataAround(data, thawedThread(data.conversation), data.open === null ? null : thawedTurn(data.open));

/** Returns an unfrozen copy of the data with this thread and this open turn. */
export const dataAround = (
  data: ConversationData,
  conversation: Thread,
  open: OpenTurn | null,
): Fresh<ConversationData> => {
  return {
    threadId: data.threadId,
    seq: data.seq,
    createdAt: data.createdAt,
    updatedAt: data.updatedAt,
    metadata: data.metadata,
    conversation,
    usage: data.usage,
    open,
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

/**
 * Freezes what a transition created. Values shared with `before` are frozen already. Some others are frozen when they
 * are created, or never change: event content, messages and usage of a turn, and the thread's beginning. They are not
 * checked.
 */
export const frozenSince = (
  after: ConversationData,
  before: ConversationData,
  decided: Decided,
  effects: readonly Effect[],
): void => {
  frozen(decided);
  freezeNew(after.conversation, before.conversation, ["turns", "appended", "pins", "shortened", "checkpoints"]);
  if (after.open !== null) freezeNew(after.open, before.open, changingInTurn);
  freezeNew(after, before, ["usage", "queue", "waking", "summarising", "measured", "room", "dropped"]);
  frozen(effects);
};

const changingInTurn = [
  "asks",
  "waiting",
  "joining",
  "metadata",
  "model",
  "callerTools",
  "limits",
  "refusedOutputs",
  "stage",
] as const;

/** Freezes an object, and those of these members that differ from the ones before. */
const freezeNew = <Whole extends object>(
  after: Whole,
  before: Whole | null,
  members: readonly (keyof Whole)[],
): void => {
  for (const name of members) if (after[name] !== before?.[name]) frozen(after[name]);
  Object.freeze(after);
};

export const thawedThread = (thread: Thread): Fresh<Thread> => {
  const fresh: Fresh<Thread> = {
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
  if (thread.appendedCharacters !== undefined) fresh.appendedCharacters = thread.appendedCharacters;
  return fresh;
};

export const thawedTurn = (open: OpenTurn): Fresh<OpenTurn> => {
  const fresh: Fresh<OpenTurn> = {
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
  if (callerTools !== undefined) fresh.callerTools = callerTools;
  if (output !== undefined) fresh.output = output;
  if (refusedOutputs !== undefined) fresh.refusedOutputs = refusedOutputs;
  return fresh;
};
