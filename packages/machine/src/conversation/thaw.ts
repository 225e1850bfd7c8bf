import { frozen } from "../thread/frozen.ts";
import type { Thread } from "../thread/thread.ts";
import type { ConversationData, OpenTurn } from "./data.ts";

// A spread of a frozen object takes eight times as long as one of an object that is not, and asking whether something is
// frozen as long as a small spread. A transition makes a dozen copies of the same three objects; so it works on copies of
// them that are made member by member, and what it leaves as it was is not asked about again.

/** The data of a frozen state as a transition works on it: its three large objects are fresh, with their members in the order in which `begin` and `openTurn` make them, and all else is as it was. */
export const thawed = (data: ConversationData): ConversationData => {
  const fresh = {
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
    dropped: data.dropped,
    forkedFrom: data.forkedFrom,
  } satisfies { readonly [Member in keyof Required<Omit<ConversationData, "format">>]: unknown };
  return data.format === undefined ? fresh : { ...fresh, format: data.format };
};

/** Freezes the data that a transition came to, which began with that of `before`: what is the same there is frozen. */
export const frozenSince = (after: ConversationData, before: ConversationData): void => {
  freezeMembers(after.conversation, before.conversation, threadMembers);
  if (after.open !== null) freezeMembers(after.open, before.open ?? noTurn, turnMembers);
  freezeMembers(after, before, dataMembers);
};

const thawedThread = (thread: Thread): Thread =>
  ({
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
  }) satisfies { readonly [Member in keyof Required<Thread>]: unknown };

const thawedTurn = (open: OpenTurn): OpenTurn =>
  ({
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
  }) satisfies { readonly [Member in keyof Required<OpenTurn>]: unknown };

/** The members of a type that may be objects, complete by the type. */
type ObjectMembers<Holder> = {
  readonly [Member in keyof Holder as Extract<Holder[Member], object> extends never ? never : Member]-?: true;
};

const namesIn = <Holder>(members: ObjectMembers<Holder>): readonly (keyof Holder)[] =>
  // What it has are the names of members.
  Object.freeze(Object.keys(members)) as readonly (keyof Holder)[];

const dataMembers = namesIn<ConversationData>({
  metadata: true,
  conversation: true,
  usage: true,
  open: true,
  queue: true,
  waking: true,
  cut: true,
  configuration: true,
  summarising: true,
  measured: true,
  model: true,
  dropped: true,
  forkedFrom: true,
});

const threadMembers = namesIn<Thread>({
  system: true,
  firstSystem: true,
  seed: true,
  turns: true,
  appended: true,
  pins: true,
  shortened: true,
  checkpoints: true,
});

const turnMembers = namesIn<OpenTurn>({
  asks: true,
  messages: true,
  waiting: true,
  joining: true,
  metadata: true,
  usage: true,
  model: true,
  limits: true,
  stage: true,
});

const noTurn: Partial<OpenTurn> = Object.freeze({});

const freezeMembers = <Holder extends object>(
  after: Holder,
  before: Partial<Holder>,
  members: readonly (keyof Holder)[],
): void => {
  for (let index = 0; index < members.length; index++) {
    const name = members[index];
    if (name !== undefined && after[name] !== before[name]) frozen(after[name]);
  }
  Object.freeze(after);
};
