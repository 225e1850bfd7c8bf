import type { ConversationMachine, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import { firstFormat, neededFormat, raiseFormatFor } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import type { MadeEnvelope } from "./mailbox.ts";

/** What is sent before an event that needs a newer format of the journal than threads begin with; null for any other. */
export const raiseFor = (machine: ConversationMachine, event: Event | ThreadStarted): MadeEnvelope | null =>
  event.type === "thread.started" || neededFormat(event.type) === firstFormat
    ? null
    : { make: (state) => raise(machine, state, event), sender: null };

/** A thread whose journal has risen can't be read by older versions, so it rises only for an event that will be handled. */
const raise = (machine: ConversationMachine, state: State, event: Event): Either.Either<Refusal, Event> => {
  const raised = raiseFormatFor(state, event);
  if (raised === null) return Either.left({ kind: "stale", reason: "the journal has the format already" });
  const risen = transition(machine, state, raised);
  const then = risen.handled ? transition(machine, risen.state, event) : risen;
  return then.handled ? Either.right(raised) : Either.left(then.refusal);
};
