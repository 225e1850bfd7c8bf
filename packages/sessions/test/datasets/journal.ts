import { conversationMachine, type Event, start, type SystemDraft, transition } from "@colloquy/machine";
import type { NamedJournal } from "@colloquy/machine/inspect";

/** Makes a journal of thread `t` from events. @throws Error for a refused event */
export const addedJournal = (
  events: readonly Event[],
  threadId = "t",
  system: SystemDraft | null = null,
): NamedJournal => {
  const machine = conversationMachine();
  const begun = start(machine, { threadId, at: 0, ...(system === null ? {} : { system }) });
  let { state } = begun;
  const later = events.map((event) => {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    state = step.state;
    return step.entry;
  });
  return { name: threadId, entries: [begun.entry, ...later] };
};
