// The recorded conversations as threads at every step, and other threads made of them: with something pinned, with
// a turn that was cancelled, with summaries.
import { compactTurns, type InterruptedTurns, type Policy, summariseTurns } from "@colloquy/machine/policies";
import {
  conversationMachine,
  type ConversationMachine,
  type Entry,
  type Event,
  type LaterEntry,
  messagesOf,
  outstanding,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { type CaseFile, recordingMachine, replayCase } from "@colloquy/runtime-test/recordings";
import { statesOf } from "../kit/journal.ts";
import { type Random, randomOf, seedOf } from "../kit/random.ts";

/** A thread as it was after each of its entries while a turn was open. */
export interface Conversation {
  readonly id: string;
  /** How it differs from what was recorded. */
  readonly variant: Variant;
  readonly steps: readonly State[];
  /** Each step follows from the one before it. */
  readonly isOneHistory: boolean;
  readonly interrupted: InterruptedTurns;
}

export type Variant = "as recorded" | "pinned" | "cancelled" | "cancelled, left out" | "summarised" | "compacted";

/** The conversations of a file, some of them by their ids; those that no thread can contain, as far as they go. */
export const conversationsOf = (
  { records, common }: CaseFile,
  seed: number,
  isWanted: (id: string, index: number) => boolean,
): readonly Conversation[] =>
  records.flatMap((recorded, index): readonly Conversation[] => {
    if (!isWanted(recorded.id, index)) return [];
    const { entries } = replayCase(recorded, { common });
    const steps = statesOf(entries);
    const { id } = recorded;
    const random = randomOf(seedOf(seed, id));
    const variants: { readonly [variant in Variant]: readonly State[] } = {
      "as recorded": steps,
      pinned: steps.map((state) => pinned(state, random)),
      cancelled: steps.flatMap(cancelled),
      "cancelled, left out": steps.flatMap(cancelled),
      summarised: decidedAgain(entries, summariseTurns()),
      compacted: decidedAgain(entries, compactTurns({ keepTurns: 1, at: 0 })),
    };
    return variantNames.map((variant) => ({
      id,
      variant,
      steps: variants[variant].filter(({ context }) => context.open !== null).map(frozen),
      isOneHistory: !["pinned", "cancelled", "cancelled, left out"].includes(variant),
      interrupted: variant === "cancelled, left out" ? "omit" : "keep",
    }));
  });

const variantNames: readonly Variant[] = [
  "as recorded",
  "pinned",
  "cancelled",
  "cancelled, left out",
  "summarised",
  "compacted",
];

const isLater = (entry: Entry): entry is LaterEntry => entry.event.type !== "thread.started";

/** With one or two of its messages pinned. */
const pinned = (state: State, random: Random): State => {
  const messages = messagesOf(state);
  return [random.pick(messages), random.pick(messages)].reduce<State>(
    (before, message) =>
      message === undefined
        ? before
        : stateAfter(recordingMachine(), before, { type: "message.pinned", at: 1, message: message.id, pinned: true }),
    state,
  );
};

/** Its open turn cancelled, and the next one open. */
const cancelled = (state: State): readonly State[] => {
  if (state.context.open === null) return [];
  const machine = recordingMachine();
  const after = stateAfter(machine, state, { type: "cancel.requested", at: 1, reason: "enough" });
  return [stateAfter(machine, after, { type: "ask.received", at: 2, askId: "go-on", input: "Please go on." })];
};

/** The same events, handled by a machine that has summaries written. */
const decidedAgain = (entries: readonly Entry[], policy: Policy): readonly State[] => {
  const budget = { tokens: 10_000_000, reserve: 0 };
  const machine = conversationMachine({
    policy,
    budget,
    unknownTool: "ask",
    interrupted: "keep",
    retry: { attempts: 1 },
  });
  const [first] = entries;
  if (first?.event.type !== "thread.started") return [];
  const { configuration: _, ...thread } = first.event;
  let { state } = start(machine, thread);
  const steps: State[] = [];
  for (const entry of entries) {
    if (!isLater(entry)) continue;
    state = withSummaries(machine, stateAfter(machine, state, withoutDigest(entry.event)));
    steps.push(state);
  }
  return steps;
};

/** The prompt is another one, so its digest is. */
const withoutDigest = (event: Event): Event => {
  if (event.type !== "llm.completed") return event;
  const { promptDigest: _, ...rest } = event;
  return rest;
};

/** Every summary that is out is there at once. */
const withSummaries = (machine: ConversationMachine, before: State): State => {
  let state = before;
  for (;;) {
    const summary = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "summary");
    if (summary === undefined) return state;
    const content = `A summary of ${"all that was said ".repeat(1 + (state.context.summaries % 4))}so far.`;
    state = stateAfter(machine, state, {
      type: "llm.completed",
      at: state.context.updatedAt,
      effectId: summary.id,
      reply: { content },
      finishReason: "stop",
    });
  }
};

/** A refused event is impossible for this thread, which stays as it is. */
const stateAfter = (machine: ConversationMachine, state: State, event: Event): State =>
  transition(machine, state, event).state;

/** Freezes a value, so that code that changes it throws. */
const frozen = <Value>(value: Value): Value => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) frozen(member);
  return value;
};
