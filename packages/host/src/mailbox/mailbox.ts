import type { Entry, Event, Refusal, State, ThreadStarted } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** Takes the mails of a mailbox in its place. */
export interface Diversion {
  post(mail: Mail): void;
  takeBack(receipt: Receipt): boolean;
  /** Nobody wants to know any more what comes of them. */
  end(): readonly Mail[];
}

/** What a thread is still to be told, oldest first. */
export class Mailbox {
  #mails: Mail[] = [];
  /** How many of them were taken: taking the first out of a long list would move all others. */
  #taken = 0;
  #diversion: Diversion | null = null;
  #ended: Error | null = null;

  get size(): number {
    return this.#mails.length - this.#taken;
  }

  /** The oldest. */
  get first(): Mail | undefined {
    return this.#mails[this.#taken];
  }

  /** After the end its sender is told so; of asks the thread tells that itself, or takes them along. */
  add(mail: Mail): void {
    if (this.#ended !== null) mail.receipt?.failed(this.#ended);
    else if (this.#diversion === null) this.#mails.push(mail);
    else this.#diversion.post(mail);
  }

  /** Before all others. */
  addFirst(mails: readonly Mail[]): void {
    this.#mails.splice(0, this.#taken, ...mails);
    this.#taken = 0;
  }

  take(): Mail | undefined {
    const mail = this.#mails[this.#taken];
    if (mail === undefined) return undefined;
    this.#taken++;
    // Half of them at a time: so each is moved once, however many there are.
    if (this.#taken * 2 >= this.#mails.length) this.#forgetTaken();
    return mail;
  }

  #forgetTaken(): void {
    this.#mails.splice(0, this.#taken);
    this.#taken = 0;
  }

  /** Takes out the mail of whom this is the receipt. False when it is not there any more. */
  takeBack(receipt: Receipt): boolean {
    this.#forgetTaken();
    const index = this.#mails.findIndex((mail) => mail.receipt === receipt);
    if (index >= 0) this.#mails.splice(index, 1);
    return index >= 0 || this.#diversion?.takeBack(receipt) === true;
  }

  /** From here on mails go elsewhere, those that are here first; null: they come here again. */
  divert(diversion: Diversion | null): void {
    this.#diversion = diversion;
    this.#forgetTaken();
    if (diversion !== null) for (const mail of this.#mails.splice(0)) diversion.post(mail);
  }

  /** All that nobody will be told now. */
  end(reason: Error): readonly Mail[] {
    this.#ended = reason;
    this.#forgetTaken();
    return [...(this.#diversion?.end() ?? []), ...this.#mails.splice(0)];
  }

  some(test: (mail: Mail) => boolean): boolean {
    return this.#mails.some((mail, index) => index >= this.#taken && test(mail));
  }
}

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
