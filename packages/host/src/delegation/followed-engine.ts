import type { State } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import { ThreadExistsError, ThreadUnknownError, StoreError } from "../boundary/errors.ts";
import type { Envelope, EventEnvelope, Sender } from "../mailbox/mailbox.ts";
import type { Engine, InboxAnswer } from "../ports/store.ts";
import { type Followed, FollowedLog } from "./followed-log.ts";
import type { Answered, Outbox, Outgoing } from "./outbox.ts";

/** Returns an engine as an inbox: an item is handled when posted, and its answer kept until discarded. */
export const inboxOf = (engine: Engine): Outgoing => {
  const answers = new Map<string, InboxAnswer>();
  return {
    post: async (threadId, { id, event }) => void answers.set(id, await engine.send(threadId, id, event)),
    answerTo: async (_, id) => answers.get(id) ?? null,
    discard: async (_, id) => void answers.delete(id),
  };
};

/**
 * What following an engine's thread needs beyond following another host: the reports of the engine, and the envelopes
 * for the thread, in order. Events go to the outbox. A task, and an event that is made from the state, waits until all
 * before it were handled, and is run here, with the followed state.
 */
export class FollowedEngine {
  readonly log: FollowedLog;
  readonly #threadId: string;
  readonly #outbox: Outbox;
  readonly #envelopes: Envelope[] = [];
  readonly #unfollow: (() => void) | undefined;

  /** @param wake called when the journal should be read. */
  constructor(engine: Engine, followed: Followed, outbox: Outbox, wake: () => void) {
    const { threadId } = followed;
    const log = new FollowedLog(followed, wake);
    this.log = log;
    this.#threadId = threadId;
    this.#outbox = outbox;
    this.#unfollow = engine.follow?.(threadId, (heard) => {
      if (heard.type === "entries") wake();
      else log.hear(heard.turn, heard.part);
    });
    log.isHeard = this.#unfollow !== undefined;
  }

  get size(): number {
    return this.#envelopes.length;
  }

  add(envelope: Envelope): void {
    this.#envelopes.push(envelope);
    this.#passEvents();
  }

  /** Runs the first tasks, until an event must be handled before them. @param state the newest state; null without a thread */
  pass(state: State | null): void {
    for (; this.#envelopes.length > 0 && this.#outbox.size === 0; this.#passEvents()) {
      const envelope = this.#envelopes.shift();
      if (envelope !== undefined && !("event" in envelope)) this.#handle(envelope, state);
    }
  }

  takeBack(sender: Sender): boolean {
    const index = this.#envelopes.findIndex((envelope) => envelope.sender === sender);
    if (index >= 0) this.#envelopes.splice(index, 1);
    return index >= 0;
  }

  /** Fails the sender of a refused event, if a loop here would have failed it. Returns whether it did. */
  fails({ item, answer }: Answered, state: State | null): boolean {
    const isUnknown = state === null && !answer.handled && answer.refusal.kind === "unknown";
    if (isUnknown) failSender(item.envelope.sender, new ThreadUnknownError(this.#threadId));
    if (isUnknown || state === null || item.event.type !== "thread.started") return isUnknown;
    failSender(item.envelope.sender, new ThreadExistsError(this.#threadId));
    return true;
  }

  /** Stops following. Returns the envelopes that were not passed on. */
  end(): readonly Envelope[] {
    this.#unfollow?.();
    return this.#envelopes.splice(0);
  }

  #passEvents(): void {
    for (let [first] = this.#envelopes; first !== undefined && "event" in first; [first] = this.#envelopes) {
      this.#envelopes.shift();
      this.#outbox.add(first, first.event);
    }
  }

  #handle(envelope: Exclude<Envelope, EventEnvelope>, state: State | null): void {
    try {
      if (state === null) throw new ThreadUnknownError(this.#threadId);
      if ("task" in envelope) return envelope.task(state);
      const { sender } = envelope;
      const made = envelope.make(state);
      if (Either.isLeft(made)) sender?.refused(made.left, state);
      else this.#outbox.add({ event: made.right, sender }, made.right);
    } catch (thrown) {
      failSender(envelope.sender, thrown instanceof Error ? thrown : new StoreError(this.#threadId, "go on", thrown));
    }
  }
}

/** Fails the sender of one envelope. The loop of an ask continues, so the ask fails alone. */
const failSender = (sender: Envelope["sender"], error: Error): void => {
  if (sender instanceof Ask) sender.fail(error);
  else sender?.failed(error);
};
