import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** Takes the envelopes of a mailbox in its place. */
export interface Diversion {
  post(envelope: Envelope): void;
  takeBack(sender: Sender): boolean;
  /** Nobody wants to know any more what comes of them. */
  end(): readonly Envelope[];
}

/** What a thread is still to be told, oldest first. */
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

  /** After the end its sender is told so; of asks the thread tells that itself, or takes them along. */
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

  /** Takes out the envelope of whom this is the sender. False when it is not there any more. */
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

  /** All that nobody will be told now. */
  end(reason: Error): readonly Envelope[] {
    this.#ended = reason;
    this.#forgetTaken();
    return [...(this.#diversion?.end() ?? []), ...this.#envelopes.splice(0)];
  }

  some(test: (envelope: Envelope) => boolean): boolean {
    return this.#envelopes.some((envelope, index) => index >= this.#taken && test(envelope));
  }
}

/** What waits in a thread's mailbox. */
export interface Envelope {
  readonly event: Event | ThreadStarted;
  /** Makes the event from the state that it is told in, or says why there is none; `event` is then what it is about. */
  readonly aim?: (state: State) => Either.Either<Refusal, Event>;
  /** Who is told what became of it. */
  readonly sender: Sender | null;
  /** Told by a recovery in place of an answer that a crash swallowed. */
  readonly recovered?: true;
}

/** Told once what became of an event. None of these may throw. */
export interface Sender {
  /** It is journalled, and the state is the one after it. */
  accepted(entry: Entry): void;
  /** It changed nothing. The state is null where it is not at hand. */
  refused(refusal: Refusal, state: State | null): void;
  /** It was not looked at, or it is not known whether it is journalled. */
  failed(error: Error): void;
}

/** Looks up an ask that was made before: its outcome is read from the state that the loop has when it takes this. */
export const envelopeOfEarlierAsk = (sender: Sender, at: number): Envelope => ({
  event: { type: "cancel.requested", at },
  aim: () => Either.left(askedEarlier),
  sender,
});

/** The refusal of a look-up: the ask finds its outcome where the thread knows it, and fails with this reason where it does not. */
export const askedEarlier: Refusal = { kind: "stale", reason: "the thread knows no ask of this id, or no longer" };
