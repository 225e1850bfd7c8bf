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

/** What had been shown of the reply that is out; undefined where nothing was. Asked only about a reply that an event cuts off. */
export type Shown = () => ReplyDraft | undefined;

/** What an event comes to. A cancel of the open turn, and an ask that interrupts it, carry what had been shown of the reply. */
export const stepOf = (
  machine: ConversationMachine,
  state: State,
  event: Event,
  shown: Shown,
  options?: { readonly recovered: boolean },
): Transition => {
  const given = event.type === "cancel.requested" ? withShown(event, state, shown) : event;
  const step = transition(machine, state, given, options);
  // What is interrupted is known only now; what had been shown of it is kept.
  if (!step.handled || step.entry.decided?.interrupts !== true || given.type !== "ask.received") return step;
  const partial = given.partial === undefined ? shown() : undefined;
  return partial === undefined ? step : transition(machine, state, { ...given, partial }, options);
};

/** An ask that was long on its way, by the inbox or until the lease was free, has all of its deadline before it. */
export const notBefore = (event: Event, now: number): Event =>
  event.type === "ask.received" && event.at < now ? { ...event, at: now } : event;

/** Journals what was shown of a reply. @param again what was journalled of it before is void */
export const progressOf = (effectId: string, partial: ReplyDraft, at: number, again: boolean): LlmProgressed => ({
  type: "llm.progressed",
  at,
  effectId,
  partial,
  ...(again ? { again } : {}),
});

/** Whether some of the reply that is out stands in the journal. */
export const hasPartial = (state: State | null): boolean => {
  const stage = state?.context.open?.stage;
  return stage?.type === "responding" && stage.call.partial !== null;
};

const withShown = (event: CancelRequested, { context }: State, shown: Shown): CancelRequested => {
  const { askId } = event;
  const asks = context.open?.asks ?? [];
  // A turn that answers others as well goes on for them.
  const meant = askId === undefined || (asks.length === 1 && asks[0]?.askId === askId);
  const partial = meant && event.partial === undefined ? shown() : undefined;
  return partial === undefined ? event : { ...event, partial };
};
