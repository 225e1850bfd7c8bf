import {
  type Effect,
  type Entry,
  type Event,
  type Refusal,
  type ReplyDraft,
  type State,
  type ThreadStarted,
  SeedError,
} from "@colloquy/machine";
import { deadlineId, llmId, callOut, turnOfEffect } from "@colloquy/machine/hosting";
import { EventRefusedError, ThreadExistsError, ThreadUnknownError } from "../boundary/errors.ts";
import type { RunContext } from "../context/host-context.ts";
import { ShownOutput } from "../output/partial-json.ts";
import type { AskPart } from "../turn-log/parts.ts";
import { makesThread, started } from "./beginning.ts";
import { hasPartial, notBefore, progressOf, stepOf } from "./decide.ts";
import { changedConfiguration } from "./recovery.ts";
import { recordingAsks, reportEffect, reportEntry, type ReportPort, reportResult, showReply } from "./report.ts";

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

/** Decides an event as the loop would if no other waited. Pure. @throws SnapshotDamagedError */
export const decisionOf = (
  host: RunContext,
  threadId: string,
  given: State | null,
  event: Event | ThreadStarted,
  options: DecideOptions,
): Decision => {
  if (given !== null)
    return event.type === "thread.started" ? existing(threadId) : decided(host, given, [], event, options);
  const first = begun(host, threadId, event, options.at);
  if ("kind" in first) return { type: "refused", refusal: first };
  const { after } = first;
  return event.type === "thread.started" ? handled([first], after) : decided(host, after, [first], event, options);
};

/** Decides an event in a thread that exists. @param steps what was decided before, to which its own are added */
const decided = (
  host: RunContext,
  before: State,
  steps: DecidedStep[],
  event: Event,
  { at, recovered, shown }: DecideOptions,
): Decision => {
  let state = before;
  const take = (each: Event, shownPart = (): ReplyDraft | undefined => undefined, isAgain = false): Refusal | null => {
    const step = stepOf(host.machine, state, each, shownPart, isAgain ? { recovered: true } : undefined);
    if (!step.handled) return step.refusal;
    steps.push({ before: state, entry: step.entry, effects: step.effects, after: step.state });
    ({ state } = step);
    return null;
  };
  const configured = changedConfiguration(host, state, at);
  if (configured !== null) take(configured);
  const out = answerOut(state);
  let cutsOff = false;
  const shownOfIt = (): ReplyDraft | undefined => {
    cutsOff = out !== null && shown?.effectId !== out;
    return out === null ? undefined : (shown?.reply ?? undefined);
  };
  // A deadline cuts a reply off without carrying its shown part, so that part is journalled first.
  const partial = isDeadline(state, event) ? shownOfIt() : undefined;
  if (out !== null && partial !== undefined) take(progressOf(out, partial, at, hasPartial(state)));
  const refusal = take(notBefore(event, at), shownOfIt, recovered);
  if (out !== null && cutsOff) return { type: "cutsOff", effectId: out };
  return refusal === null ? handled(steps, state) : { type: "refused", refusal };
};

const handled = (steps: readonly DecidedStep[], state: State): HandledDecision => {
  const entries = steps.map(({ entry }) => entry);
  return { type: "handled", entries, effects: steps.flatMap(({ effects }) => effects), state, steps };
};

const answerOut = ({ context: { threadId, open } }: State): string | null =>
  open?.stage.type === "responding" ? llmId(threadId, open.number, open.step, open.stage.call.attempt) : null;

const isDeadline = ({ context: { threadId, open } }: State, event: Event): boolean =>
  event.type === "timer.fired" && open !== null && event.effectId === deadlineId(threadId, open.number);

const existing = (threadId: string): Decision => ({
  type: "refused",
  refusal: { kind: "stale", reason: new ThreadExistsError(threadId).message },
});

/** Starts a thread with its first event, if that event can create one. */
const begun = (host: RunContext, threadId: string, event: Event | ThreadStarted, at: number): DecidedStep | Refusal => {
  const explicit = event.type === "thread.started" ? event : null;
  if (explicit === null && !makesThread(event))
    return { kind: "unknown", reason: new ThreadUnknownError(threadId).message };
  if (explicit !== null && explicit.threadId !== threadId)
    return { kind: "invalid", reason: "it begins another thread than it was sent to" };
  try {
    const { state, entry, effects } = started(host, threadId, explicit, at);
    return { before: null, entry, effects, after: state };
  } catch (thrown) {
    if (!(thrown instanceof SeedError || thrown instanceof EventRefusedError)) throw thrown;
    return { kind: "invalid", reason: thrown.message };
  }
};

export interface ShownPart {
  readonly turn: number;
  readonly part: AskPart;
}

/** Reports a decision as the loop does, once it is stored. Returns the parts that it shows to asks. */
export const reportDecision = (
  host: RunContext,
  threadId: string,
  { steps }: HandledDecision,
  streamed: boolean,
): readonly ShownPart[] => {
  const parts: ShownPart[] = [];
  for (const { before, entry, effects, after } of steps) {
    const open = before?.context.open ?? after.context.open;
    const newest = (): number | null => parts.at(-1)?.turn ?? open?.number ?? null;
    const asks = recordingAsks((turn, part) => void parts.push({ turn, part }), newest);
    const port = { threadId, host, asks, state: after };
    if (before !== null) reportAnswer(port, entry.event, before, streamed);
    reportEntry(port, entry, before, after);
    for (const effect of effects) reportEffect(port, effect);
  }
  return parts;
};

/** Makes the reports that the runs of a loop make when their answer is journalled. */
const reportAnswer = (port: ReportPort, event: Event | ThreadStarted, before: State, streamed: boolean): void => {
  if (event.type === "tool.completed" || event.type === "tool.failed") {
    const call = callOut(before, event.effectId);
    if (call !== undefined && call.by === undefined) reportResult(port, call, event);
    return;
  }
  const { open } = before.context;
  if (event.type !== "llm.completed" || open?.stage.type !== "responding") return;
  // A summary belongs to no turn.
  if (turnOfEffect(event.effectId) === null) return;
  const { number: turn, step, stage, output } = open;
  const { attempt } = stage.call;
  showReply(port, { turn, step, attempt, output: output === undefined ? null : new ShownOutput() }, event, streamed);
};
