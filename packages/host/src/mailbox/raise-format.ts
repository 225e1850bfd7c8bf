import type { ConversationMachine, Event, State, ThreadConfigured } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import { raiseFormatFor } from "@colloquy/machine/journal";
import type { Envelope, Mailbox } from "./mailbox.ts";

/**
 * Returns the envelope to handle now. If the journal must rise for the taken one, that is the rise, and the taken one
 * comes after it.
 */
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

/**
 * Returns the event that raises the journal for `event`; null if none is needed. Older versions cannot read a risen
 * journal, so it rises only for an event that will be handled.
 */
export const raisedBefore = (machine: ConversationMachine, state: State, event: Event): ThreadConfigured | null => {
  const raised = raiseFormatFor(state, event);
  if (raised === null) return null;
  const risen = transition(machine, state, raised);
  return risen.handled && transition(machine, risen.state, event).handled ? raised : null;
};
