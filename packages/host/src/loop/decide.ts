import type { Effect, Entry, Event, Handled, Refusal, State, ThreadStarted } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import { ThreadClosedError, ThreadExistsError } from "../boundary/errors.ts";
import type { EventEnvelope, MadeEnvelope } from "../mailbox/mailbox.ts";
import type { LeasedThread } from "./leased-thread.ts";
import type { Responding } from "./loop-port.ts";
import { notBefore, stepOf } from "./step.ts";
import type { Taken } from "./taken.ts";

/** Decides an envelope. Returns null if nothing changes; the sender has been notified. */
export const decide = (
  leased: LeasedThread,
  envelope: EventEnvelope | MadeEnvelope,
  state: State,
  responding: Responding | null,
): Handled | null => {
  const given = "make" in envelope ? envelope.make(state) : eventIn(envelope, leased.host.clock.now());
  if (Either.isLeft(given)) {
    leased.refuse(envelope, given.left, state);
    return null;
  }
  const event = given.right;
  if (event.type === "thread.started") {
    envelope.sender?.failed(new ThreadExistsError(state.context.threadId));
    return null;
  }
  const options = "recovered" in envelope ? { recovered: true } : undefined;
  const step = stepOf(leased.host.machine, state, event, () => responding?.shown, options);
  if (!step.handled) {
    leased.refuse(envelope, step.refusal, state);
    return null;
  }
  if (responding !== null && step.effects.some((effect) => isCancelOf(effect, responding))) responding.mute();
  return step;
};

/**
 * Completes the journal of a thread that was closed while entries were being stored. If one of them says that a tool
 * starts, the tool does not run, so a failure is journalled. Otherwise it would be unknown later whether the tool ran.
 *
 * @returns why the thread ended.
 */
export const endedMeanwhile = async (
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
    const interrupted = transition(leased.host.machine, state, failed);
    if (!interrupted.handled) continue;
    state = interrupted.state;
    failures.push(interrupted.entry);
  }
  if (failures.length > 0) await leased.append(failures);
  return reason;
};

const eventIn = (
  { event, sender, refusal }: EventEnvelope,
  now: number,
): Either.Either<Refusal, Event | ThreadStarted> => {
  const refused = refusal?.() ?? null;
  if (refused !== null) return Either.left(refused);
  // An event that was sent with its own time keeps it.
  const isOfHost = sender instanceof Ask || refusal !== undefined;
  return Either.right(isOfHost && event.type !== "thread.started" ? notBefore(event, now) : event);
};

const isCancelOf = (effect: Effect, { effectId }: Responding): boolean =>
  effect.type === "cancelLlm" && effect.effectId === effectId;
