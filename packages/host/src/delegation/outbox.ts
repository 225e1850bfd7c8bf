import type { Event, ThreadStarted } from "@colloquy/machine";
import { decodeEntry } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import { StoreError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { EventEnvelope, Sender } from "../mailbox/mailbox.ts";
import type { Inbox, InboxAnswer } from "../ports/store.ts";
import { readAnswer } from "./inbox-items.ts";

/** The inbox to which items are posted for the holder of a thread, and from which their answers are read. */
export interface Outgoing extends Pick<Inbox, "answerTo" | "discard"> {
  post(threadId: string, item: { readonly id: string; readonly event: Event | ThreadStarted }): Promise<void>;
}

type OutboxHost = Pick<HostContext, "clock" | "ids" | "leaseTtlMs" | "observation" | "store">;

/** The inbox items that this host has posted, or is about to post, to the holder of a thread, until they are answered. */
export class Outbox {
  readonly #threadId: string;
  readonly #host: OutboxHost;
  readonly #inbox: Outgoing;
  readonly #waiting: OutgoingItem[] = [];
  /** Posted items by id, oldest first. The post of the newest may still be in progress. */
  readonly #posted = new Map<string, OutgoingItem>();
  /** The item whose post is in progress or has failed: it may or may not be in the inbox. */
  #beingPosted: OutgoingItem | null = null;
  #sending: Promise<void> | null = null;

  constructor(threadId: string, host: OutboxHost, inbox: Outgoing) {
    this.#threadId = threadId;
    this.#host = host;
    this.#inbox = inbox;
  }

  get size(): number {
    return this.#waiting.length + this.#posted.size;
  }

  /** Whether a post is due, so that the journal is worth a look first. A post that failed is repeated without one. */
  get isDue(): boolean {
    return this.hasNew || this.#overdue !== null;
  }

  get hasNew(): boolean {
    return this.#waiting.length > 0;
  }

  add(envelope: EventEnvelope, event: Event | ThreadStarted, id: string = this.#idFor(envelope)): void {
    this.#waiting.push({ id, envelope, event, postedAt: null });
  }

  /** An ask that was posted before keeps its id, so that it is posted once, however often the lease is lost and taken. */
  #idFor({ sender }: EventEnvelope): string {
    const { ids } = this.#host;
    return sender instanceof Ask ? (sender.inboxId ??= ids.draw("item")) : ids.draw("item");
  }

  /** Adds an ask again, under a new id: the store lost its inbox item, or the entry that accepted it. */
  addAnew(ask: Ask, event: Event): void {
    if (this.#waiting.some(({ envelope }) => envelope.sender === ask)) return;
    for (const item of this.#posted.values())
      if (item.envelope.sender === ask && item.postedAt !== null) this.#drop(item);
    ask.inboxId = null;
    this.add({ event, sender: ask }, event);
  }

  takeBack(sender: Sender): boolean {
    const index = this.#waiting.findIndex(({ envelope }) => envelope.sender === sender);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** Posts the waiting items, and the oldest again if unanswered for too long. @throws StoreError */
  send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  /** Returns the answers to the posted items, from the oldest up to the first that has none. @throws StoreError */
  async answers(): Promise<readonly Answered[]> {
    const answered: Answered[] = [];
    for (const item of this.#posted.values()) {
      if (item.postedAt === null) break;
      const answer = await this.#inbox.answerTo(this.#threadId, item.id);
      const read = readAnswer(answer);
      if (read === null) break;
      answered.push({ item, answer: read });
    }
    return answered;
  }

  waitsFor({ item }: Answered): boolean {
    return this.#posted.has(item.id);
  }

  /** Passes an answer on to the sender of its envelope. */
  async settle({ item, answer }: Answered, refused: (sender: Sender, answer: RefusedItem) => void): Promise<void> {
    if (!this.#posted.has(item.id)) return;
    const { sender } = item.envelope;
    // An ask learns from the journal that it was accepted.
    if (sender !== null && answer.handled && !(sender instanceof Ask)) {
      const [stored] = await this.#host.store.read(this.#threadId, answer.seq);
      const entry = decodeEntry(stored, answer.seq);
      if (Either.isRight(entry)) sender.accepted(entry.right);
      else sender.failed(new StoreError(this.#threadId, "read the journal", new Error(entry.left.reason)));
    } else if (sender !== null && !answer.handled) refused(sender, answer);
    this.#drop(item);
  }

  drop(test: (sender: Sender | null) => boolean): void {
    const isDropped = ({ envelope }: OutgoingItem): boolean => test(envelope.sender);
    for (const item of this.#waiting.splice(0)) {
      if (isDropped(item)) this.#drop(item);
      else this.#waiting.push(item);
    }
    for (const item of this.#posted.values()) if (item.postedAt !== null && isDropped(item)) this.#drop(item);
  }

  /** Empties the outbox, for a host that took the lease. */
  takeAll(): { readonly posted: Map<string, EventEnvelope>; readonly others: readonly EventEnvelope[] } {
    const posted = new Map([...this.#posted].map(([id, { envelope }]) => [id, envelope]));
    this.#posted.clear();
    return { posted, others: this.#waiting.splice(0).map(({ envelope }) => envelope) };
  }

  async #sendAll(): Promise<void> {
    const overdue = this.#overdue;
    if (overdue !== null) await this.#post(overdue);
    for (let item = this.#next(); item !== undefined; item = this.#next()) {
      this.#beingPosted = item;
      this.#posted.set(item.id, item);
      await this.#post(item);
      this.#beingPosted = null;
    }
  }

  #next(): OutgoingItem | undefined {
    return this.#beingPosted ?? this.#waiting.shift();
  }

  /** The oldest posted item, if its holder may have deleted both it and its answer by now. */
  get #overdue(): OutgoingItem | null {
    const { clock, leaseTtlMs } = this.#host;
    const [oldest] = this.#posted.values();
    const postedAt = oldest?.postedAt ?? null;
    return oldest !== undefined && postedAt !== null && postedAt + leaseTtlMs <= clock.now() ? oldest : null;
  }

  async #post(item: OutgoingItem): Promise<void> {
    const { id, event } = item;
    await this.#inbox.post(this.#threadId, { id, event });
    item.postedAt = this.#host.clock.now();
  }

  #drop({ id }: OutgoingItem): void {
    this.#posted.delete(id);
    const failed = (thrown: unknown): void => this.#host.observation.report(thrown, "store");
    this.#inbox.discard(this.#threadId, id).catch(failed);
  }
}

interface OutgoingItem {
  readonly id: string;
  readonly envelope: EventEnvelope;
  readonly event: Event | ThreadStarted;
  postedAt: number | null;
}

export interface Answered {
  readonly item: OutgoingItem;
  readonly answer: InboxAnswer;
}

type RefusedItem = Extract<InboxAnswer, { readonly handled: false }>;
