import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";

/** Takes the envelopes of a mailbox in its place. */
export interface Diversion {
  post(envelope: Envelope): void;
  takeBack(sender: Sender): boolean;
  /** Gives back the envelopes of which nothing is known yet, and handles them no further. */
  end(): readonly Envelope[];
}

/** What a thread has still to handle, oldest first. */
export class Mailbox {
  #envelopes: Envelope[] = [];
  /** How many of them were taken: taking the first out of a long list would move all others. */
  #taken = 0;
  #diversion: Diversion | null = null;
  #ended: Error | null = null;

  get size(): number {
    return this.#envelopes.length - this.#taken;
  }

  /** The oldest. */
  get first(): Envelope | undefined {
    return this.#envelopes[this.#taken];
  }

  /** After the end its sender is notified that it failed. */
  add(envelope: Envelope): void {
    if (this.#ended !== null) envelope.sender?.failed(this.#ended);
    else if (this.#diversion === null) this.#envelopes.push(envelope);
    else this.#diversion.post(envelope);
  }

  /** Before all others. */
  addFirst(envelopes: readonly Envelope[]): void {
    this.#envelopes.splice(0, this.#taken, ...envelopes);
    this.#taken = 0;
  }

  take(): Envelope | undefined {
    const envelope = this.#envelopes[this.#taken];
    if (envelope === undefined) return undefined;
    this.#taken++;
    // Half of them at a time: so each is moved once, however many there are.
    if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();
    return envelope;
  }

  #forgetTaken(): void {
    this.#envelopes.splice(0, this.#taken);
    this.#taken = 0;
  }

  /** Takes out the envelope of a sender. False when it is not there any more. */
  takeBack(sender: Sender): boolean {
    this.#forgetTaken();
    const index = this.#envelopes.findIndex((envelope) => envelope.sender === sender);
    if (index >= 0) this.#envelopes.splice(index, 1);
    return index >= 0 || this.#diversion?.takeBack(sender) === true;
  }

  /** From here on envelopes go elsewhere, those that are here first; null: they come here again. */
  divert(diversion: Diversion | null): void {
    this.#diversion = diversion;
    this.#forgetTaken();
    if (diversion !== null) for (const envelope of this.#envelopes.splice(0)) diversion.post(envelope);
  }

  /** Gives all that was not handled, and takes nothing more. */
  end(reason: Error): readonly Envelope[] {
    this.#ended = reason;
    this.#forgetTaken();
    return [...(this.#diversion?.end() ?? []), ...this.#envelopes.splice(0)];
  }

  some(test: (envelope: Envelope) => boolean): boolean {
    return this.#envelopes.some((envelope, index) => index >= this.#taken && test(envelope));
  }
}

/** What waits in a thread's mailbox for its turn. */
export type Envelope = EventEnvelope | MadeEnvelope | TaskEnvelope;

/** An event. */
export interface EventEnvelope {
  readonly event: Event | ThreadStarted;
  /** Asked when its turn comes: why it was refused before that, if it was. Only of an event that came by the inbox. */
  readonly refusal?: () => Refusal | null;
  readonly sender: Sender | null;
  /** Sent by a recovery in place of an answer that a crash swallowed. */
  readonly recovered?: true;
}

/** An event that is made when its turn comes, since it depends on the state of then; or the reason why there is none. */
export interface MadeEnvelope {
  readonly make: (state: State) => Either.Either<Refusal, Event>;
  readonly sender: Sender | null;
}

/** Something that is done with the state when its turn comes. Nothing is journalled. Done again where the state could not be read. */
export interface TaskEnvelope {
  readonly task: (state: State) => void;
  readonly sender: Pick<Sender, "failed"> | null;
}

/** Who sent an envelope: notified once of what became of it. None of these may throw. */
export interface Sender {
  /** Its event is journalled, and the state is the one after it. */
  accepted(entry: Entry): void;
  /** Its event changed nothing. The state is null where it is not at hand. */
  refused(refusal: Refusal, state: State | null): void;
  /** It was not looked at, or it is not known whether its event is journalled. */
  failed(error: Error): void;
}
