import type { ConversationMachine, Event, State, ThreadConfigured } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import { raiseFormatFor } from "@colloquy/machine/journal";
import type { Envelope, Mailbox } from "./mailbox.ts";

/** The envelope that is handled now: where the journal has to rise for one that was taken, the rise, and that one behind it. */
export const riseFirst = (
  machine: ConversationMachine,
  mailbox: Mailbox,
  state: State | null,
  taken: Envelope,
): Envelope => {
  if (state === null || !("event" in taken) || taken.event.type === "thread.started") return taken;
  const event = raisedBefore(machine, state, taken.event);
  if (event === null) return taken;
  mailbox.addFirst([taken]);
  return { event, sender: null };
};

/** A thread whose journal has risen can't be read by older versions, so it rises only for an event that will be handled. */
export const raisedBefore = (machine: ConversationMachine, state: State, event: Event): ThreadConfigured | null => {
  const raised = raiseFormatFor(state, event);
  if (raised === null) return null;
  const risen = transition(machine, state, raised);
  return risen.handled && transition(machine, risen.state, event).handled ? raised : null;
};
