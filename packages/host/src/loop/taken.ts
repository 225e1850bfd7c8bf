import { type ConversationMachine, type Event, type Handled, transition } from "@colloquy/machine";
import { SnapshotDamagedError } from "@colloquy/machine/storage";
import type { EventEnvelope, Envelope, Mailbox, MadeEnvelope } from "../mailbox/mailbox.ts";

/** An envelope that was taken from the mailbox, with the machine's decision. Its entry is not stored yet. */
export interface Taken {
  readonly envelope: EventEnvelope | MadeEnvelope;
  readonly step: Handled;
}

/**
 * Returns the envelopes that one write stores: the first, and if that starts or ends a tool call, the ones after it
 * that do the same. So a batch of parallel tools costs a slow store two or three writes, however many tools there are.
 *
 * It stops at the first envelope of another kind, which is decided in its turn.
 */
export const takeTogether = (machine: ConversationMachine, mailbox: Mailbox, first: Taken): readonly Taken[] => {
  if (mailbox.size === 0 || !isOfTool(first.step.entry.event.type)) return [first];
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
  if (event.type === "thread.started" || !isOfTool(event.type)) return null;
  try {
    const step = transition(machine, state, event, envelope.recovered === true ? { recovered: true } : undefined);
    return step.handled ? { envelope, step } : null;
  } catch (thrown) {
    // The loop reads the state again when this envelope's turn comes.
    if (thrown instanceof SnapshotDamagedError) return null;
    throw thrown;
  }
};

const isOfTool = (type: Event["type"] | "thread.started"): boolean =>
  type === "tool.started" || type === "tool.completed" || type === "tool.failed" || type === "tool.withheld";
