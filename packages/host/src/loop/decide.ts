import type { Effect, Event, Handled, State, Transition } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { HostContext } from "../context/host-context.ts";
import { Ask } from "../ask/ask.ts";
import { ThreadExistsError } from "../boundary/errors.ts";
import type { LeasedThread } from "./leased-thread.ts";
import { type LlmRun, withShown } from "./llm-run.ts";
import type { Envelope } from "../mailbox/mailbox.ts";

/** What a envelope comes to; null when it changes nothing, of which its sender is told. */
export const decide = (
  leased: LeasedThread,
  envelope: Envelope,
  state: State,
  responding: LlmRun | null,
): Handled | null => {
  const { event: given, aim, sender, recovered } = envelope;
  const aimed = aim?.(state) ?? Either.right(given);
  if (Either.isLeft(aimed)) {
    leased.refuse(envelope, aimed.left, state);
    return null;
  }
  // What is sent with a time of its own keeps it.
  const isOwn = sender instanceof Ask || aim !== undefined;
  const event = isOwn ? presently(aimed.right, leased.host.clock.now()) : aimed.right;
  if (event.type === "thread.started") {
    sender?.failed(new ThreadExistsError(state.context.threadId));
    return null;
  }
  const step = stepOf(leased.host, state, event, recovered === true, responding);
  if (!step.handled) {
    leased.refuse(envelope, step.refusal, state);
    return null;
  }
  if (responding !== null && step.effects.some((effect) => isCancelOf(effect, responding))) responding.mute();
  return step;
};

const isCancelOf = (effect: Effect, { effectId }: LlmRun): boolean =>
  effect.type === "cancelLlm" && effect.effectId === effectId;

/** An ask that was long on its way, as a letter or until the lease was free, has all of its deadline before it. */
const presently = <Told extends Envelope["event"]>(event: Told, now: number): Told =>
  event.type === "ask.received" && event.at < now ? { ...event, at: now } : event;

const stepOf = (
  { machine }: HostContext,
  state: State,
  event: Event,
  recovered: boolean,
  responding: LlmRun | null,
): Transition => {
  const options = recovered ? { recovered } : undefined;
  const told = event.type === "cancel.requested" ? withShown(event, state, responding) : event;
  const step = transition(machine, state, told, options);
  // What is interrupted is known only now; what had been shown of it is kept.
  const partial = step.handled && step.entry.decided?.interrupts === true ? responding?.shown : undefined;
  return partial === undefined || told.type !== "ask.received" || told.partial !== undefined
    ? step
    : transition(machine, state, { ...told, partial }, options);
};
