import {
  type Entry,
  type Event,
  type Handled,
  type Refusal,
  type State,
  type ThreadStarted,
  transition,
  type CancelRequested,
  type ConversationMachine,
  type LlmProgressed,
  type ReplyDraft,
  type Transition,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import { ThreadClosedError, ThreadExistsError } from "../boundary/errors.ts";
import type { EventEnvelope, MadeEnvelope, Envelope, Mailbox } from "../mailbox/mailbox.ts";
import type { LeasedThread } from "./leased-thread.ts";
import type { Responding } from "./loop-port.ts";
import { readEvent, transitionRead } from "@colloquy/machine/hosting";
import { SnapshotDamagedError } from "@colloquy/machine/storage";
import type { RunContext } from "../context/host-context.ts";
import type { Clock } from "../ports/clock.ts";

/** Decides an envelope. Returns null if nothing changes; the sender has been notified. */
export const decide = (
  { machine, clock }: RunContext,
  leased: LeasedThread,
  envelope: EventEnvelope | MadeEnvelope,
  state: State,
  responding: Responding | null,
): Handled | null => {
  const given = "make" in envelope ? envelope.make(state) : eventIn(envelope, clock);
  if (Either.isLeft(given)) {
    leased.refuse(envelope, given.left, state);
    return null;
  }
  const event = given.right;
  if (event.type === "thread.started") {
    envelope.sender?.failed(new ThreadExistsError(state.context.threadId));
    return null;
  }
  const options = {
    recovered: "recovered" in envelope,
    isRead: "isRead" in envelope && envelope.isRead,
  };
  const step = stepOf(machine, state, event, () => responding?.shown, options);
  if (!step.handled) {
    leased.refuse(envelope, step.refusal, state);
    return null;
  }
  if (
    responding !== null &&
    step.effects.some((each) => each.type === "cancelLlm" && each.effectId === responding.effectId)
  )
    responding.mute();
  return step;
};

/** Facts about an event: it replaces one that a crash lost; it needs no copy and no check. */
interface StepOptions {
  readonly recovered?: boolean;
  readonly isRead?: boolean;
}

/**
 * Completes the journal of a thread that was closed while entries were being stored. If one of them says that a tool
 * starts, the tool does not run, so a failure is journalled. Otherwise it would be unknown later whether the tool ran.
 *
 * @returns why the thread ended.
 */
export const endedMeanwhile = async (
  machine: ConversationMachine,
  leased: LeasedThread | null,
  taken: readonly Taken[],
  reason: Error,
): Promise<Error> => {
  let state = taken.at(-1)?.step.state;
  if (leased === null || state === undefined || !(reason instanceof ThreadClosedError)) return reason;
  const failures: Entry[] = [];
  for (const { step } of taken) {
    const { event } = step.entry;
    if (event.type !== "tool.started") continue;
    const { at, effectId } = event;
    const content =
      "The tool was not run: the process that was to run it was closed before. Call it again if it is needed.";
    const failed: Event = { type: "tool.failed", at, effectId, outcome: "interrupted", content };
    const interrupted = transition(machine, state, failed);
    if (!interrupted.handled) continue;
    state = interrupted.state;
    failures.push(interrupted.entry);
  }
  if (failures.length > 0) await leased.held.append(failures);
  return reason;
};

const eventIn = (
  { event, sender, refusal }: EventEnvelope,
  clock: Clock,
): Either.Either<Refusal, Event | ThreadStarted> => {
  const refused = refusal?.() ?? null;
  if (refused !== null) return Either.left(refused);
  // An event that was sent with its own time keeps it.
  const isOfHost = sender instanceof Ask || refusal !== undefined;
  return Either.right(isOfHost && event.type === "ask.received" ? notBefore(event, clock.now()) : event);
};

/** Returns the shown part of the reply that an event cuts off; undefined if nothing was shown. */
type Shown = () => ReplyDraft | undefined;

/** Decides an event. A cancel of the open turn, and an ask that interrupts it, carry the shown part of the reply. */
export const stepOf = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  shown: Shown,
  options: StepOptions = {},
): Transition => {
  const given = event.type === "cancel.requested" ? withShown(event, state, shown) : event;
  const read = options.isRead === true && given === event ? Either.right(given) : readEvent(given);
  const step = Either.isLeft(read)
    ? transition(machine, state, given, options)
    : transitionRead(machine, state, read.right, options);
  // Only now is it known what the ask interrupts; the shown part of that reply is kept.
  if (!step.handled || step.entry.decided?.interrupts !== true || given.type !== "ask.received") return step;
  const partial = given.partial === undefined ? shown() : undefined;
  return partial === undefined ? step : transition(machine, state, { ...given, partial }, options);
};

/** Moves a delayed ask's time to now, so that it has its whole deadline. A read ask stays read. */
export const notBefore = (event: Event, now: number): Event =>
  event.type === "ask.received" && event.at < now ? Object.freeze({ ...event, at: now }) : event;

/** Makes the event that journals the shown part of a reply. @param again the part that was journalled before is void */
export const progressOf = (effectId: string, partial: ReplyDraft, at: number, again: boolean): LlmProgressed => ({
  type: "llm.progressed",
  at,
  effectId,
  partial,
  ...(again ? { again } : {}),
});

export const hasPartial = (state: State | null): boolean => {
  const stage = state?.context.open?.stage;
  return stage?.type === "responding" && stage.call.partial !== null;
};

const withShown = (event: CancelRequested, { context }: State, shown: Shown): CancelRequested => {
  const { askId } = event;
  const asks = context.open?.asks ?? [];
  // A turn that also answers other asks continues for them.
  const meant = askId === undefined || (asks.length === 1 && asks[0]?.askId === askId);
  const partial = meant && event.partial === undefined ? shown() : undefined;
  return partial === undefined ? event : { ...event, partial };
};

/** An envelope that was taken from the mailbox, with the machine's decision. Its entry is not stored yet. */
export interface Taken {
  readonly envelope: EventEnvelope | MadeEnvelope;
  readonly step: Handled;
}

/**
 * Returns the envelopes that one write stores: the first, which starts or ends a tool call, and those after it that do
 * the same. So a batch of parallel tools costs a slow store two or three writes, however many tools there are.
 *
 * It stops at the first envelope of another kind, which is decided in its turn.
 */
export const takeTogether = (machine: ConversationMachine, mailbox: Mailbox, first: Taken): readonly Taken[] => {
  const taken = [first];
  for (;;) {
    const envelope = mailbox.first;
    const step = envelope === undefined ? null : handledBehind(machine, taken.at(-1) ?? first, envelope);
    if (step === null) return taken;
    mailbox.take();
    taken.push(step);
  }
};

const handledBehind = (machine: ConversationMachine, { step: { state } }: Taken, envelope: Envelope): Taken | null => {
  // An item of the inbox may have been refused meanwhile.
  if (!("event" in envelope) || "refusal" in envelope) return null;
  const { event } = envelope;
  if (event.type === "thread.started" || !event.type.startsWith("tool.")) return null;
  try {
    const step = stepOf(machine, state, event, () => undefined, envelope);
    return step.handled ? { envelope, step } : null;
  } catch (thrown) {
    // The loop reads the state again when this envelope's turn comes.
    if (thrown instanceof SnapshotDamagedError) return null;
    throw thrown;
  }
};
