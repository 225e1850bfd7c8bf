import { conversationMachine, type Event, start, transition } from "@colloquy/machine";
import type { NamedJournal } from "@colloquy/machine/inspect";

/** A journal of thread `t`, made by hand. @throws Error for an event that is refused */
export const addedJournal = (events: readonly Event[], threadId = "t"): NamedJournal => {
  const machine = conversationMachine();
  const begun = start(machine, { threadId, at: 0 });
  let { state } = begun;
  const later = events.map((event) => {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    state = step.state;
    return step.entry;
  });
  return { name: threadId, entries: [begun.entry, ...later] };
};
