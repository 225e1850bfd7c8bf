import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import { waitsOutside } from "@colloquy/machine/hosting";
import type * as Either from "fp-ts/lib/Either.js";

/** Handles a mailbox's envelopes in its place, while another host holds the thread. */
export interface Diversion {
  post(envelope: Envelope): void;
  takeBack(sender: Sender): boolean;
  /** Returns the envelopes whose outcome is unknown, and stops handling them. */
  end(): readonly Envelope[];
}

/** The envelopes that a thread still has to handle, oldest first. */
export class Mailbox {
  #envelopes: Envelope[] = [];
  /** How many envelopes were taken. Removing the first of a long list would move all others. */
  #taken = 0;
  #diversion: Diversion | null = null;
  /** Envelopes of inbox items that were posted during a diversion, by id, until the items are read. Null without one. */
  posted: Map<string, Envelope> | null = null;
  #ended: Error | null = null;

  get size(): number {
    return this.#envelopes.length - this.#taken;
  }

  get first(): Envelope | undefined {
    return this.#envelopes[this.#taken];
  }

  /** Adds an envelope. After the end, its sender is notified that it failed. */
  add(envelope: Envelope): void {
    if (this.#ended !== null) envelope.sender?.failed(this.#ended);
    else if (this.#diversion === null) this.#envelopes.push(envelope);
    else this.#diversion.post(envelope);
  }

  /** Adds envelopes before all others. After the end, their senders are notified that they failed. */
  addFirst(envelopes: readonly Envelope[]): void {
    if (this.#ended !== null) {
      for (const envelope of envelopes) this.add(envelope);
      return;
    }
    this.#envelopes.splice(0, this.#taken, ...envelopes);
    this.#taken = 0;
  }

  take(): Envelope | undefined {
    const envelope = this.first;
    if (envelope === undefined) return undefined;
    this.#taken++;
    // Removed once they are half of the list, so that each other envelope moves about once, however long it is.
    if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();
    return envelope;
  }

  #forgetTaken(): void {
    this.#envelopes.splice(0, this.#taken);
    this.#taken = 0;
  }

  /** Removes the envelope of a sender. Returns false if it is no longer there. */
  takeBack(sender: Sender): boolean {
    this.#forgetTaken();
    const index = this.#envelopes.findIndex((envelope) => envelope.sender === sender);
    if (index >= 0) this.#envelopes.splice(index, 1);
    return index >= 0 || this.#diversion?.takeBack(sender) === true;
  }

  /** Passes the present and all later envelopes to a diversion. With null, later ones are kept here again. */
  divert(diversion: Diversion | null): void {
    this.#diversion = diversion;
    this.#forgetTaken();
    if (diversion !== null) for (const envelope of this.#envelopes.splice(0)) diversion.post(envelope);
  }

  /** Ends the mailbox: a later envelope fails with the reason. Returns all envelopes that were not handled. */
  end(reason: Error): readonly Envelope[] {
    this.#ended = reason;
    this.#forgetTaken();
    const posted = this.posted?.values() ?? [];
    this.posted = null;
    return [...(this.#diversion?.end() ?? []), ...posted, ...this.#envelopes.splice(0)];
  }

  some(test: (envelope: Envelope) => boolean): boolean {
    return this.#envelopes.some((envelope, index) => index >= this.#taken && test(envelope));
  }
}

/** An item that waits in a thread's mailbox for its turn. */
export type Envelope = EventEnvelope | MadeEnvelope | TaskEnvelope;

export interface EventEnvelope {
  readonly event: Event | ThreadStarted;
  /** Returns why an item of the inbox was refused before its turn, or null. */
  readonly refusal?: () => Refusal | null;
  readonly sender: Sender | null;
  /** Set if a recovery sent the event in place of an answer that was lost in a crash. */
  readonly recovered?: true;
  /** The event is deeply frozen plain data for which `problemOfEvent` finds nothing, so it needs no copy and no check. */
  readonly isRead?: boolean;
}

/** An envelope whose event, or refusal, depends on the state when its turn comes. */
export interface MadeEnvelope {
  readonly make: (state: State) => Either.Either<Refusal, Event>;
  readonly sender: Sender | null;
}

/** An envelope with a task on the state. It runs again if the state could not be read. */
export interface TaskEnvelope {
  readonly task: (state: State) => void;
  readonly sender: Pick<Sender, "failed"> | null;
}

/** The sender of an envelope. It is notified once of the outcome. None of these methods may throw. */
export interface Sender {
  /** Called when its event is journalled. The state is the one after it. */
  accepted(entry: Entry): void;
  /** Called when its event changed nothing. The state is null if it is not available. */
  refused(refusal: Refusal, state: State | null): void;
  /** Called when the envelope was not handled, or when it is unknown whether its event is journalled. */
  failed(error: Error): void;
}

/**
 * Returns whether a thread has nothing to do until something new is asked. Either no turn is open or about to be, or
 * the open one only waits for approvals and results of the caller's tools. These waits are in the state, and may take
 * days.
 */
export const isIdle = (state: State): boolean => {
  const { open, queue } = state.context;
  return open === null ? queue.length === 0 : open.deadlineAt === null && waitsOutside(state);
};

/** Returns whether a host that opens a thread continues work in it. */
export const goesOn = (state: State): boolean => !isIdle(state) || state.context.summarising !== null;
