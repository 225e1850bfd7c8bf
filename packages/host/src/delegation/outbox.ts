import type { Event } from "@colloquy/machine";
import { decodeEntry } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import { StoreError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { EventEnvelope, Sender } from "../mailbox/mailbox.ts";
import { fromStore } from "../ports/store-call.ts";
import type { Inbox, InboxAnswer } from "../ports/store.ts";
import { readAnswer } from "./inbox-items.ts";

/** The inbox items that a host has left, or is about to leave, for the holder of a thread, until they are answered. */
export class Outbox {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #inbox: Inbox;
  /** Not left yet, oldest first. */
  readonly #waiting: OutgoingItem[] = [];
  /** Left, oldest first, by id; the last one perhaps not yet. */
  readonly #left = new Map<string, OutgoingItem>();
  /** The one that is being left, or that could not be: it is not known whether it is there. */
  #beingLeft: OutgoingItem | null = null;
  #sending: Promise<void> | null = null;

  constructor(threadId: string, host: HostContext, inbox: Inbox) {
    this.#threadId = threadId;
    this.#host = host;
    this.#inbox = inbox;
  }

  get size(): number {
    return this.#waiting.length + this.#left.size;
  }

  /** Whether there is something to leave. */
  get isDue(): boolean {
    return this.#waiting.length > 0 || this.#beingLeft !== null || this.#forgotten !== null;
  }

  /** Whether there is something that was not tried to be left yet. */
  get hasNews(): boolean {
    return this.#waiting.length > 0;
  }

  /** @param event is that of the envelope. */
  add(envelope: EventEnvelope, event: Event): void {
    const { ids } = this.#host;
    const { sender } = envelope;
    // An ask that has been here before is left once, however often the lease comes and goes.
    const id = sender instanceof Ask ? (sender.inboxId ??= ids.draw("item")) : ids.draw("item");
    this.#waiting.push({ id, envelope, event, leftAt: null });
  }

  /** Adds an ask whose inbox item may have been lost, or taken by a holder whose journal was: under an id of its own. */
  addAnew(ask: Ask, event: Event): void {
    if (this.#waiting.some(({ envelope }) => envelope.sender === ask)) return;
    for (const item of this.#left.values()) if (item.envelope.sender === ask && item.leftAt !== null) this.#drop(item);
    ask.inboxId = null;
    this.add({ event, sender: ask }, event);
  }

  /** Takes out what was not left yet. False when there is no such inbox item. */
  takeBack(sender: Sender): boolean {
    const index = this.#waiting.findIndex(({ envelope }) => envelope.sender === sender);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** Leaves what was not left yet, and again what lies unanswered for long. @throws StoreError */
  send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  /** The answers that there are, from the oldest inbox item to the first that has none. @throws StoreError */
  async answers(): Promise<readonly Answered[]> {
    const answered: Answered[] = [];
    for (const item of this.#left.values()) {
      if (item.leftAt === null) break;
      const answer = await this.#tried("look for an answer", () => this.#inbox.answerTo(this.#threadId, item.id));
      const read = readAnswer(answer);
      if (read === null) break;
      answered.push({ item, answer: read });
    }
    return answered;
  }

  /** Whether the inbox item of an answer is still waited for. */
  waitsFor({ item }: Answered): boolean {
    return this.#left.has(item.id);
  }

  /** Passes an answer on to the sender of its envelope. */
  async settle({ item, answer }: Answered, refused: (sender: Sender, answer: RefusedItem) => void): Promise<void> {
    if (!this.#left.has(item.id)) return;
    const { sender } = item.envelope;
    // Asks learn from the journal that they were taken.
    if (sender !== null && answer.handled && !(sender instanceof Ask)) {
      const [stored] = await this.#tried("read the journal", () => this.#host.store.read(this.#threadId, answer.seq));
      const entry = decodeEntry(stored, answer.seq);
      if (Either.isRight(entry)) sender.accepted(entry.right);
      else sender.failed(new StoreError(this.#threadId, "read the journal", new Error(entry.left.reason)));
    } else if (sender !== null && !answer.handled) refused(sender, answer);
    this.#drop(item);
  }

  /** Drops the inbox items of asks that are in the journal, or are no longer waited for. */
  dropAsks(test: (ask: Ask) => boolean): void {
    const isDropped = ({ envelope }: OutgoingItem): boolean => envelope.sender instanceof Ask && test(envelope.sender);
    for (const item of this.#waiting.splice(0)) {
      if (isDropped(item)) this.#drop(item);
      else this.#waiting.push(item);
    }
    for (const item of this.#left.values()) if (item.leftAt !== null && isDropped(item)) this.#drop(item);
  }

  /** Nothing is being left any more. */
  async settled(): Promise<void> {
    await this.#sending?.catch(() => {});
  }

  /** All that is not answered, for a host that has the lease now: the envelopes of inbox items that were left, by id, and the others. */
  takeAll(): { readonly left: Map<string, EventEnvelope>; readonly others: readonly EventEnvelope[] } {
    const left = new Map([...this.#left].map(([id, { envelope }]) => [id, envelope]));
    this.#left.clear();
    return { left, others: this.#waiting.splice(0).map(({ envelope }) => envelope) };
  }

  async #sendAll(): Promise<void> {
    const forgotten = this.#forgotten;
    if (forgotten !== null) await this.#leave(forgotten);
    for (let item = this.#next(); item !== undefined; item = this.#next()) {
      this.#beingLeft = item;
      this.#left.set(item.id, item);
      await this.#leave(item);
      this.#beingLeft = null;
    }
  }

  #next(): OutgoingItem | undefined {
    return this.#beingLeft ?? this.#waiting.shift();
  }

  /** The oldest inbox item, where it lies unanswered for long: the holder may have cleared it away, with its answer, while this host did not look. */
  get #forgotten(): OutgoingItem | null {
    const { clock, leaseTtlMs } = this.#host;
    const [oldest] = this.#left.values();
    const leftAt = oldest?.leftAt ?? null;
    return oldest !== undefined && leftAt !== null && leftAt + leaseTtlMs <= clock.now() ? oldest : null;
  }

  async #leave(item: OutgoingItem): Promise<void> {
    const { id, event } = item;
    await this.#tried("leave an inbox item", () => this.#inbox.post(this.#threadId, { id, event }));
    item.leftAt = this.#host.clock.now();
  }

  #drop({ id }: OutgoingItem): void {
    this.#left.delete(id);
    void this.#discard(id);
  }

  async #discard(id: string): Promise<void> {
    try {
      await this.#inbox.discard(this.#threadId, id);
    } catch (thrown) {
      this.#host.observation.report(new StoreError(this.#threadId, "discard an inbox item", thrown), "store");
    }
  }

  #tried<Value>(doing: string, call: () => Promise<Value>): Promise<Value> {
    return fromStore(this.#threadId, doing, call);
  }
}

interface OutgoingItem {
  readonly id: string;
  readonly envelope: EventEnvelope;
  readonly event: Event;
  /** Null before it was. */
  leftAt: number | null;
}

/** An inbox item and what became of it. */
export interface Answered {
  readonly item: OutgoingItem;
  readonly answer: InboxAnswer;
}

type RefusedItem = Extract<InboxAnswer, { readonly handled: false }>;
