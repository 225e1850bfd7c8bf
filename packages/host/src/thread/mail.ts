import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";

/** What waits in a thread's mailbox. */
export interface Mail {
  readonly event: Event | ThreadStarted;
  /** Who is told what became of it. */
  readonly receipt: Receipt | null;
  /** Told by a recovery in place of an answer that a crash swallowed. */
  readonly recovered?: true;
}

/** Told once what became of an event. None of these may throw. */
export interface Receipt {
  /** It is journalled, and the state is the one after it. */
  accepted(entry: Entry): void;
  /** It changed nothing. */
  refused(refusal: Refusal, state: State): void;
  /** It was not looked at, or it is not known whether it is journalled. */
  failed(error: Error): void;
}
