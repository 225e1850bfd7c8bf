import type { Effect, Entry, Event, Refusal, ReplyDraft, State, ThreadStarted } from "@colloquy/machine";
import { SeedError } from "@colloquy/machine";
import { deadlineId, llmId } from "@colloquy/machine/hosting";
import { EventRefusedError, ThreadExistsError, ThreadUnknownError } from "../boundary/errors.ts";
import type { RunContext } from "../context/host-context.ts";
import { makesThread, started } from "./beginning.ts";
import { changedConfiguration } from "./recovery.ts";
import { hasPartial, notBefore, progressOf, stepOf } from "./decide.ts";

/** The machine's decision about an event in a thread. */
export type Decision =
  | HandledDecision
  /** The event changes nothing. */
  | { readonly type: "refused"; readonly refusal: Refusal }
  /**
   * The event cuts off the reply of this effect, and the caller did not pass the shown part of that reply. Decide again
   * with it.
   */
  | { readonly type: "cutsOff"; readonly effectId: string };

/** Entries to store, all or none, and effects to perform once they are stored. */
export interface HandledDecision {
  readonly type: "handled";
  /** The entries in order, at least one. The last is that of the event. */
  readonly entries: readonly Entry[];
  /** The effects of all entries, in order. */
  readonly effects: readonly Effect[];
  /** The state after the last entry. */
  readonly state: State;
  /** The same decision, entry by entry. */
  readonly steps: readonly DecidedStep[];
}

/** The decision about one entry. */
export interface DecidedStep {
  /** The state before the entry; null before the first entry of a thread. */
  readonly before: State | null;
  readonly entry: Entry;
  readonly effects: readonly Effect[];
  readonly after: State;
}

/** The circumstances in which an event is decided. */
export interface DecideOptions {
  /** The time, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether the event replaces an answer that was lost in a crash. Its entry is then marked so. Default false. */
  readonly recovered?: boolean;
  /**
   * The part of a reply that had been shown, by its effect; null if none. If it is absent, or of another reply than the
   * outstanding one, the shown part counts as unknown.
   */
  readonly shown?: ShownReply;
}

/** The part of one model call's reply that had been shown. */
export interface ShownReply {
  readonly effectId: string;
  readonly reply: ReplyDraft | null;
}

/**
 * Decides an event as the loop would if no other event waited. Pure.
 *
 * @throws SnapshotDamagedError if the state was read from a snapshot, and a needed chunk cannot be read.
 */
export const decisionOf = (
  host: RunContext,
  threadId: string,
  given: State | null,
  event: Event | ThreadStarted,
  { at, recovered, shown }: DecideOptions,
): Decision => {
  const deciding = given === null ? begun(host, threadId, event, at) : new Deciding(host, given, []);
  if (!(deciding instanceof Deciding)) return { type: "refused", refusal: deciding };
  if (event.type === "thread.started") return given === null ? deciding.decision() : existing(threadId);
  const configured = changedConfiguration(host, deciding.state, at);
  if (configured !== null) deciding.take(configured);
  const { state } = deciding;
  const out = answerOut(state);
  let cutsOff = false;
  const shownOfIt = (): ReplyDraft | undefined => {
    cutsOff = out !== null && shown?.effectId !== out;
    return out === null ? undefined : (shown?.reply ?? undefined);
  };
  // A deadline cuts a reply off without carrying its shown part, so that part is journalled first.
  const partial = isDeadline(state, event) ? shownOfIt() : undefined;
  if (out !== null && partial !== undefined) deciding.take(progressOf(out, partial, at, hasPartial(state)));
  const refusal = deciding.take(notBefore(event, at), shownOfIt, recovered);
  if (out !== null && cutsOff) return { type: "cutsOff", effectId: out };
  return refusal === null ? deciding.decision() : { type: "refused", refusal };
};

/** Returns the id of the outstanding model call; null if there is none. */
const answerOut = ({ context: { threadId, open } }: State): string | null =>
  open?.stage.type === "responding" ? llmId(threadId, open.number, open.step, open.stage.call.attempt) : null;

const isDeadline = ({ context: { threadId, open } }: State, event: Event): boolean =>
  event.type === "timer.fired" && open !== null && event.effectId === deadlineId(threadId, open.number);

const existing = (threadId: string): Decision => ({
  type: "refused",
  refusal: { kind: "stale", reason: new ThreadExistsError(threadId).message },
});

/** A thread while events are decided in it, one after the other. */
class Deciding {
  state: State;
  readonly #host: RunContext;
  readonly #steps: DecidedStep[];

  constructor(host: RunContext, state: State, steps: readonly DecidedStep[]) {
    this.#host = host;
    this.state = state;
    this.#steps = [...steps];
  }

  /** Decides an event. Returns why it is refused, or null. */
  take(event: Event, shown: () => ReplyDraft | undefined = () => undefined, recovered = false): Refusal | null {
    const before = this.state;
    const step = stepOf(this.#host.machine, before, event, shown, recovered ? { recovered } : undefined);
    if (!step.handled) return step.refusal;
    this.state = step.state;
    this.#steps.push({ before, entry: step.entry, effects: step.effects, after: step.state });
    return null;
  }

  decision(): HandledDecision {
    const steps = this.#steps;
    const entries = steps.map(({ entry }) => entry);
    return { type: "handled", entries, effects: steps.flatMap(({ effects }) => effects), state: this.state, steps };
  }
}

/** Starts a thread with its first event, if that event can create one. */
const begun = (host: RunContext, threadId: string, event: Event | ThreadStarted, at: number): Deciding | Refusal => {
  const explicit = event.type === "thread.started" ? event : null;
  if (explicit === null && !makesThread(event))
    return { kind: "unknown", reason: new ThreadUnknownError(threadId).message };
  if (explicit !== null && explicit.threadId !== threadId)
    return { kind: "invalid", reason: "it begins another thread than it was sent to" };
  try {
    const { state, entry, effects } = started(host, threadId, explicit, at);
    return new Deciding(host, state, [{ before: null, entry, effects, after: state }]);
  } catch (thrown) {
    if (!(thrown instanceof SeedError || thrown instanceof EventRefusedError)) throw thrown;
    return { kind: "invalid", reason: thrown.message };
  }
};
