import { Ask } from "../ask/ask.ts";
import type { Mail, Receipt } from "./mail.ts";

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
    if (this.#ended !== null) {
      if (!(mail.receipt instanceof Ask)) mail.receipt?.failed(this.#ended);
    } else if (this.#diversion === null) this.#mails.push(mail);
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
