import type { Entry, Event, Refusal, State } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { Ask } from "../ask/ask.ts";
import type { HostContext } from "../context/host-context.ts";
import type { WatchedInbox } from "../context/inbox-watch.ts";
import type { Envelope, EventEnvelope, Sender } from "../mailbox/mailbox.ts";
import { entryAt } from "../journal/read-journal.ts";
import { type Inbox, type Lease, type InboxAnswer, LeaseLostError } from "../ports/store.ts";
import { idOf, isEntryOf, isRequest, itemsIn, mayBeInInbox, readItem } from "./inbox-items.ts";
import { keptPolls, msOfPolls } from "./requested-lease.ts";

/** The loop that reads the inbox of its thread, as long as the lease lasts. */
export interface InboxHolder {
  post(envelope: Envelope): void;
  /** Releases the thread to the host that posted the new inbox items. Returns false if the thread is busy here. */
  handOver(): boolean;
  /** Called when the store says that another host has the lease. */
  end(reason: LeaseLostError): void;
}

/**
 * The inbox of a thread, as its holder sees it. It is polled. Each inbox item becomes an envelope, once, and is
 * answered when that envelope's entry is journalled, or when it was refused. If a crash prevented the answer, the item
 * is handled again and recognised, and gets the same answer.
 */
export class HeldInbox implements WatchedInbox {
  readonly #inbox: Inbox;
  readonly #lease: Lease;
  readonly #host: HostContext;
  readonly #holder: InboxHolder;
  /** Items that became envelopes, with the refusal of those refused before their turn. Null if there are none. */
  #taken: Map<string, Refusal | null> | null = null;
  readonly #answers: InboxAnswer[] = [];
  /** Answers that are written, oldest first, until they are deleted. */
  readonly #written: { readonly id: string; readonly at: number }[] = [];
  /** Items whose answers no host needs after the release: those of this host, and requests for it. Null without any. */
  #moot: Set<string> | null = null;
  #writing: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  #failing = false;
  #over = false;
  /** The error of the last write of answers; null if they may still be written. */
  #failure: Error | null = null;
  /** Whether an item without an id was reported. It cannot be answered, and is reported only once. */
  #hasNameless = false;

  constructor(inbox: Inbox, lease: Lease, host: HostContext, holder: InboxHolder) {
    this.#inbox = inbox;
    this.#lease = lease;
    this.#host = host;
    this.#holder = holder;
  }

  /** Starts to look at the inbox every `pollMs`. */
  watch(): void {
    if (!this.#over) this.#host.inboxes.add(this.#lease.threadId, this);
  }

  get isOwed(): boolean {
    return this.#answers.length > 0 || this.#written.length > 0;
  }

  look(): Promise<void> {
    return (this.#looking ??= this.#poll().finally(() => {
      this.#looking = null;
    }));
  }

  /**
   * Returns the new inbox items as envelopes, in the order in which they came, and all envelopes of `own`: the items that
   * this host posted itself, in their order. An envelope that no item can be is returned for the item that requested the
   * lease for it. Requests of other hosts wait for the next poll: the thread may be idle by then.
   */
  async collect(own: Map<string, Envelope>): Promise<readonly Envelope[]> {
    const stored = await this.#look();
    const envelopes = this.#envelopes(
      stored.filter((each) => !isRequest(each) || own.has(idOf(each) ?? "")),
      own,
    );
    return [...envelopes, ...this.#takeOwn(own, null)];
  }

  /** Takes own items that left the inbox, up to `next`. If they were handled, handling them again is recognised. */
  #takeOwn(own: Map<string, Envelope>, next: string | null): readonly Envelope[] {
    const taken: Envelope[] = [];
    for (const [id, envelope] of own) {
      if (id === next) break;
      own.delete(id);
      // Where the inbox could not be read, the item may be there, and be handled by the next holder.
      const mayBeThere = this.#failing && "event" in envelope && mayBeInInbox(envelope.event);
      if (mayBeThere) this.#take(id, null);
      taken.push(mayBeThere ? this.#envelope(id, envelope.event, envelope.sender) : envelope);
      if (this.#failing) continue;
      (this.#moot ??= new Set<string>()).add(id);
      this.#written.push({ id, at: this.#host.clock.now() });
    }
    return taken;
  }

  #envelopes(stored: readonly unknown[], own: Map<string, Envelope>): readonly Envelope[] {
    const envelopes: Envelope[] = [];
    for (const each of stored) {
      const id = idOf(each);
      if (id === null && !this.#hasNameless)
        this.#reportUnreadable("an inbox item without an id can't be answered, and stays");
      this.#hasNameless ||= id === null;
      if (id === null || this.#taken?.has(id) === true) continue;
      this.#take(id, null);
      const item = readItem(id, each);
      if ("problem" in item) {
        this.#reportUnreadable(`inbox item "${id}" was refused: ${item.problem}`);
        this.#answer({ id, handled: false, refusal: { kind: "invalid", reason: item.problem } });
      } else {
        const mine = own.get(id);
        if (mine !== undefined) envelopes.push(...this.#takeOwn(own, id));
        own.delete(id);
        if (mine !== undefined || isRequest(each)) (this.#moot ??= new Set<string>()).add(id);
        if (mine === undefined) envelopes.push(this.#envelope(id, item.event, null));
        else if ("event" in mine && mayBeInInbox(mine.event))
          envelopes.push(this.#envelope(id, item.event, mine.sender));
        else {
          envelopes.push(mine);
          this.#answer({ id, handled: false, refusal: { kind: "stale", reason: "the lease is taken" } });
        }
      }
    }
    return envelopes;
  }

  /** Refuses items that repeat a refused ask. @throws StoreError, LeaseLostError when that cannot be ensured */
  async refuseAsk(askId: string, refusal: Refusal): Promise<void> {
    for (const { id, event } of (await this.#inbox.unanswered(this.#lease.threadId)).flatMap(itemsIn)) {
      if (event.type !== "ask.received" || event.askId !== askId) continue;
      // An item that already is an envelope is refused when its turn comes.
      if (this.#taken?.has(id) !== true) this.#answer({ id, handled: false, refusal });
      this.#take(id, refusal);
    }
    await this.#writing;
    if (this.#failure !== null) throw this.#failure;
  }

  stop(): void {
    this.#over = true;
    this.#host.inboxes.remove(this.#lease.threadId, this);
  }

  /** Writes the remaining answers, and deletes those that no host needs any more. Never rejects. */
  async end(): Promise<void> {
    await this.#writing;
    await this.#write();
    const isMoot = ({ id }: { readonly id: string }): boolean => this.#moot?.has(id) === true;
    const others = this.#written.filter((each) => !isMoot(each));
    for (const each of this.#written.filter(isMoot)) await this.#discard(each.id);
    this.#written.splice(0, Infinity, ...others);
    await this.#clear();
  }

  async #poll(): Promise<void> {
    const stored = await this.#look();
    if (this.#over || (stored.some((each) => this.#isNew(each)) && this.#holder.handOver())) return;
    for (const envelope of this.#envelopes(stored, new Map())) this.#holder.post(envelope);
    this.#writeSoon();
    await this.#clear();
  }

  #isNew(stored: unknown): boolean {
    const id = idOf(stored);
    return id !== null && this.#taken?.has(id) !== true;
  }

  async #look(): Promise<readonly unknown[]> {
    try {
      const stored = await this.#inbox.unanswered(this.#lease.threadId);
      this.#failing = false;
      return stored;
    } catch (thrown) {
      // The inbox items stay, and each poll would report the same error.
      if (!this.#failing) this.#host.observation.report(thrown, "store");
      this.#failing = true;
      return [];
    }
  }

  #envelope(id: string, event: Event, own: Sender | null): EventEnvelope {
    return { event, refusal: () => this.#taken?.get(id) ?? null, sender: this.#sender(id, event, own) };
  }

  #sender(id: string, event: Event, own: Sender | null): Sender {
    return {
      accepted: (entry) => {
        own?.accepted(entry);
        this.#answer({ id, handled: true, seq: entry.seq });
      },
      refused: (refusal, state) => {
        if (refusal.kind === "stale") {
          // An ask finds its turn in the state, and so needs no entry.
          if (own instanceof Ask) own.refused(refusal, state);
          void this.#answerRepeated(id, event, refusal, state, own instanceof Ask ? null : own);
          return;
        }
        this.#answer({ id, handled: false, refusal });
        if (own !== null) void this.#refuseOnceWritten(id, () => own.refused(refusal, state), own);
      },
      failed: (error) => own?.failed(error),
    };
  }

  /** Reports a refusal once its answer is written: until then, the next holder may still accept the item. */
  async #refuseOnceWritten(id: string, notify: () => void, own: Sender): Promise<void> {
    await this.#writing;
    const error = this.#failure;
    if (own instanceof Ask) {
      // A loop that ends fails its asks, or has them carried over. While it continues, only this fails them.
      if (this.#over || error instanceof LeaseLostError) return;
      if (this.#isLeft(id) && error !== null) return own.fail(error);
    } else if (this.#isLeft(id) && error !== null) return own.failed(error);
    notify();
  }

  #take(id: string, refusal: Refusal | null): void {
    this.#taken = (this.#taken ?? new Map<string, Refusal | null>()).set(id, refusal);
  }

  #isLeft(id: string): boolean {
    return this.#answers.some((answer) => answer.id === id);
  }

  /** Answers an item that is stale. Its entry may be in the journal from before a crash that prevented its answer. */
  async #answerRepeated(
    id: string,
    event: Event,
    refusal: Refusal,
    state: State | null,
    own: Sender | null,
  ): Promise<void> {
    try {
      const entry = await this.#entryOf(event, state?.context.seq ?? 0);
      this.#answer(entry === null ? { id, handled: false, refusal } : { id, handled: true, seq: entry.seq });
      if (entry === null) own?.refused(refusal, state);
      else own?.accepted(entry);
    } catch (thrown) {
      this.#host.observation.report(thrown, "store");
      // The next poll takes the item again. A store rejects only with errors here.
      this.#taken?.delete(id);
      own?.failed(thrown as Error);
    }
  }

  /** @throws StoreError */
  async #entryOf(event: Event, newest: number): Promise<Entry | null> {
    const from = Math.max(0, newest - lookedBack);
    const stored = await this.#host.store.read(this.#lease.threadId, from);
    const index = stored.findLastIndex((entry) => isEntryOf(entry, event));
    const read = index < 0 ? null : entryAt(stored[index], from + index);
    return read === null || Either.isLeft(read) ? null : read.right;
  }

  #answer(answer: InboxAnswer): void {
    this.#answers.push(answer);
    this.#writeSoon();
  }

  #writeSoon(): void {
    if (this.#answers.length > 0) this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    this.#failure = null;
    try {
      while (this.#answers.length > 0) {
        const answers = this.#answers.slice();
        await this.#inbox.answer(this.#lease, answers);
        this.#answers.splice(0, answers.length);
        const at = this.#host.clock.now();
        for (const { id } of answers) this.#written.push({ id, at });
      }
    } catch (thrown) {
      // The host that has the lease now answers them.
      if (thrown instanceof LeaseLostError) return this.#lose(thrown);
      // The next poll tries again. A store rejects only with errors here.
      this.#failure = thrown as Error;
      this.#host.observation.report(thrown, "store");
    } finally {
      // At once, so that no answer is added in between that would not be written.
      this.#writing = null;
    }
  }

  #lose(error: LeaseLostError): void {
    this.#failure = error;
    if (!this.#over) this.#holder.end(error);
  }

  /** Deletes answers that were not fetched. If one is still wanted, its inbox item is posted again and recognised. */
  async #clear(): Promise<void> {
    const before = this.#host.clock.now() - msOfPolls(keptPolls, this.#host);
    for (let [oldest] = this.#written; oldest !== undefined; [oldest] = this.#written) {
      if (oldest.at > before && this.#written.length <= keptMax) return;
      this.#written.shift();
      this.#taken?.delete(oldest.id);
      if (!(await this.#discard(oldest.id))) return;
    }
  }

  async #discard(id: string): Promise<boolean> {
    this.#moot?.delete(id);
    try {
      await this.#inbox.discard(this.#lease.threadId, id);
      return true;
    } catch (thrown) {
      this.#host.observation.report(thrown, "store");
      return false;
    }
  }

  #reportUnreadable(problem: string): void {
    this.#host.observation.report(new Error(`thread "${this.#lease.threadId}": ${problem}`), "inbox");
  }
}

const lookedBack = 4096;

const keptMax = 1024;
