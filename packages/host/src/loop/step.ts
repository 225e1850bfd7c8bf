import type {
  CancelRequested,
  ConversationMachine,
  Event,
  LlmProgressed,
  ReplyDraft,
  State,
  Transition,
} from "@colloquy/machine";
import { transition } from "@colloquy/machine";

/**
 * Returns the shown part of the outstanding reply; undefined if nothing was shown. Only called for a reply that an
 * event cuts off.
 */
export type Shown = () => ReplyDraft | undefined;

/** Decides an event. A cancel of the open turn, and an ask that interrupts it, carry the shown part of the reply. */
export const stepOf = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  shown: Shown,
  options?: { readonly recovered: boolean },
): Transition => {
  const given = event.type === "cancel.requested" ? withShown(event, state, shown) : event;
  const step = transition(machine, state, given, options);
  // Only now is it known what the ask interrupts; the shown part of that reply is kept.
  if (!step.handled || step.entry.decided?.interrupts !== true || given.type !== "ask.received") return step;
  const partial = given.partial === undefined ? shown() : undefined;
  return partial === undefined ? step : transition(machine, state, { ...given, partial }, options);
};

/**
 * Moves an ask's time to now if it was delayed, in the inbox or until the lease was free. So it has its whole deadline
 * left.
 */
export const notBefore = (event: Event, now: number): Event =>
  event.type === "ask.received" && event.at < now ? { ...event, at: now } : event;

/** Makes the event that journals the shown part of a reply. @param again the part that was journalled before is void */
export const progressOf = (effectId: string, partial: ReplyDraft, at: number, again: boolean): LlmProgressed => ({
  type: "llm.progressed",
  at,
  effectId,
  partial,
  ...(again ? { again } : {}),
});

/** Returns whether a part of the outstanding reply is in the journal. */
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
