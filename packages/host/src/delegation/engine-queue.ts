import type { State } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import { StoreError, ThreadUnknownError } from "../boundary/errors.ts";
import type { Envelope, EventEnvelope, Sender } from "../mailbox/mailbox.ts";
import type { Outbox } from "./outbox.ts";

/**
 * The envelopes that are sent to a thread of an engine, in order. Events are passed to the outbox. A task, and an event
 * that is made from the state, waits until all earlier ones were handled. It is then run here, with the followed state.
 */
export class EngineQueue {
  readonly #threadId: string;
  readonly #outbox: Outbox;
  readonly #envelopes: Envelope[] = [];

  constructor(threadId: string, outbox: Outbox) {
    this.#threadId = threadId;
    this.#outbox = outbox;
  }

  get size(): number {
    return this.#envelopes.length;
  }

  add(envelope: Envelope): void {
    this.#envelopes.push(envelope);
    this.#passEvents();
  }

  /**
   * Runs the tasks whose turn it is. @param state after everything that was handled; null if the thread does not exist
   */
  pass(state: State | null): void {
    for (; this.#envelopes.length > 0 && this.#outbox.size === 0; this.#passEvents()) {
      const [envelope] = this.#envelopes.splice(0, 1);
      if (envelope !== undefined && !("event" in envelope)) this.#handle(envelope, state);
    }
  }

  takeBack(sender: Sender): boolean {
    const index = this.#envelopes.findIndex((envelope) => envelope.sender === sender);
    if (index >= 0) this.#envelopes.splice(index, 1);
    return index >= 0;
  }

  takeAll(): readonly Envelope[] {
    return this.#envelopes.splice(0);
  }

  #passEvents(): void {
    for (let [first] = this.#envelopes; first !== undefined && "event" in first; [first] = this.#envelopes) {
      this.#envelopes.shift();
      this.#outbox.add(first, first.event);
    }
  }

  #handle(envelope: Exclude<Envelope, EventEnvelope>, state: State | null): void {
    const { sender } = envelope;
    try {
      if (state === null) throw new ThreadUnknownError(this.#threadId);
      if ("task" in envelope) return envelope.task(state);
      const made = envelope.make(state);
      if (Either.isLeft(made)) envelope.sender?.refused(made.left, state);
      else this.#outbox.add({ event: made.right, sender: envelope.sender }, made.right);
    } catch (thrown) {
      failSender(sender, thrown instanceof Error ? thrown : new StoreError(this.#threadId, "go on", thrown));
    }
  }
}

/** Fails the sender of one envelope. The loop of an ask continues, so the ask fails alone. */
export const failSender = (sender: Envelope["sender"], error: Error): void => {
  if (sender instanceof Ask) sender.fail(error);
  else sender?.failed(error);
};
