import { conversationMachine, type Entry, type Event, SeedError, start, transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** Makes the journal of a thread from events. Left is the reason why a thread cannot begin or continue so. */
export const journalOf = (
  beginning: Parameters<typeof start>[1],
  events: readonly Event[],
): Either.Either<string, readonly Entry[]> => {
  const machine = conversationMachine();
  try {
    const begun = start(machine, beginning);
    const entries: Entry[] = [begun.entry];
    let { state } = begun;
    for (const event of events) {
      const step = transition(machine, state, event);
      if (!step.handled) return Either.left(step.refusal.reason);
      entries.push(step.entry);
      ({ state } = step);
    }
    return Either.right(entries);
  } catch (thrown) {
    if (thrown instanceof SeedError) return Either.left(thrown.message);
    throw thrown;
  }
};
