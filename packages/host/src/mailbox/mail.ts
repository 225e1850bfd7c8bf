import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** What waits in a thread's mailbox. */
export interface Mail {
  readonly event: Event | ThreadStarted;
  /** Makes the event from the state that it is told in, or says why there is none; `event` is then what it is about. */
  readonly aim?: (state: State) => Either.Either<Refusal, Event>;
  /** Who is told what became of it. */
  readonly receipt: Receipt | null;
  /** Told by a recovery in place of an answer that a crash swallowed. */
  readonly recovered?: true;
}

/** Told once what became of an event. None of these may throw. */
export interface Receipt {
  /** It is journalled, and the state is the one after it. */
  accepted(entry: Entry): void;
  /** It changed nothing. The state is null where it is not at hand. */
  refused(refusal: Refusal, state: State | null): void;
  /** It was not looked at, or it is not known whether it is journalled. */
  failed(error: Error): void;
}

/** Looks up an ask that was made before: its outcome is read from the state that the loop has when it takes this. */
export const mailOfEarlierAsk = (receipt: Receipt, at: number): Mail => ({
  event: { type: "cancel.requested", at },
  aim: () => Either.left(askedEarlier),
  receipt,
});

/** The refusal of a look-up: the ask finds its outcome where the thread knows it, and fails with this reason where it does not. */
export const askedEarlier: Refusal = { kind: "stale", reason: "the thread knows no ask of this id, or no longer" };
