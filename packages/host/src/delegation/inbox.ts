import type { Event, Refusal } from "@colloquy/machine";
import { Ask } from "../ask/ask.ts";
import { StoreError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Envelope, EventEnvelope, Sender } from "../mailbox/mailbox.ts";
import { fromStore } from "../ports/store-call.ts";
import { type Inbox, type Lease, type InboxAnswer, LeaseLostError } from "../ports/store.ts";
import { idOf, isEntryOf, readItem } from "./inbox-items.ts";

/** The loop that reads the inbox of its thread, as long as the lease lasts. */
export interface InboxHolder {
  post(envelope: Envelope): void;
  /** Releases the thread to the host that posted the new inbox items. Returns false if the thread is busy here. */
  handOver(): boolean;
  /** The store says that the lease is that of another host. */
  end(reason: LeaseLostError): void;
}

/**
 * The inbox of a thread, as its holder sees it. It is looked into now and then; each inbox item becomes an envelope, once, and
 * is answered when that envelope's entry is journalled, or was refused. An inbox item of which a crash swallowed the answer is
 * handled again, is recognised, and gets the answer that it would have had.
 */
export class HeldInbox {
  readonly #inbox: Inbox;
  readonly #lease: Lease;
  readonly #host: HostContext;
  readonly #holder: InboxHolder;
  /** Inbox items that became envelopes and may still lie in the inbox; with a refusal, where they were refused before their turn came. Absent where there are none. */
  #taken: Map<string, Refusal | null> | null = null;
  readonly #answers: InboxAnswer[] = [];
  /** Answers that are written, oldest first, until they are cleared away. */
  readonly #written: { readonly id: string; readonly at: number }[] = [];
  #writing: Promise<void> | null = null;
  #cancelPoll: (() => void) | null = null;
  #failing = false;
  #over = false;
  /** Why the answers that are left could not be written the last time; null while they may still be. */
  #failure: Error | null = null;
  /** An inbox item has no id by which it could be answered, which is reported once. */
  #hasNameless = false;

  constructor(inbox: Inbox, lease: Lease, host: HostContext, holder: InboxHolder) {
    this.#inbox = inbox;
    this.#lease = lease;
    this.#host = host;
    this.#holder = holder;
  }

  /** From here on it is looked into every `pollMs`. */
  watch(): void {
    if (this.#over) return;
    const { clock, pollMs } = this.#host;
    this.#cancelPoll = clock.wakeAt(clock.now() + pollMs, () => void this.#poll());
  }

  /** The inbox items that were not taken yet, as envelopes in the order in which they came. Those of `own` that are among them are taken out of it: this host left them itself. */
  async collect(own: Map<string, EventEnvelope> | null = null): Promise<readonly EventEnvelope[]> {
    return this.#envelopes(await this.#look(), own);
  }

  #envelopes(stored: readonly unknown[], own: Map<string, EventEnvelope> | null): readonly EventEnvelope[] {
    const envelopes: EventEnvelope[] = [];
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
        const sender = own?.get(id)?.sender ?? null;
        own?.delete(id);
        envelopes.push(this.#envelope(id, item.event, sender));
      }
    }
    return envelopes;
  }

  /**
   * Refuses the inbox items that ask the same as an ask that is refused here: the host that left them, and is gone, may be
   * the one that asked again. @throws StoreError, LeaseLostError when that can't be made sure of
   */
  async refuseAsk(askId: string, refusal: Refusal): Promise<void> {
    for (const stored of await this.#unanswered()) {
      const id = idOf(stored);
      const item = id === null ? null : readItem(id, stored);
      if (item === null || "problem" in item) continue;
      if (item.event.type !== "ask.received" || item.event.askId !== askId) continue;
      // One that is an envelope already is refused when its turn comes.
      if (this.#taken?.has(item.id) !== true) this.#answer({ id: item.id, handled: false, refusal });
      this.#take(item.id, refusal);
    }
    await this.#writing;
    if (this.#answers.length > 0 && this.#failure !== null) throw this.#failure;
  }

  /** It is not looked into any more. */
  stop(): void {
    this.#over = true;
    this.#cancelPoll?.();
  }

  /** Writes the answers that are not written yet. Never rejects. */
  async end(): Promise<void> {
    await this.#writing;
    await this.#write();
    await this.#clear();
  }

  async #poll(): Promise<void> {
    const stored = await this.#look();
    if (this.#over || (stored.some((each) => this.#isNew(each)) && this.#holder.handOver())) return;
    for (const envelope of this.#envelopes(stored, null)) this.#holder.post(envelope);
    this.#writeSoon();
    await this.#clear();
    this.watch();
  }

  #isNew(stored: unknown): boolean {
    const id = idOf(stored);
    return id !== null && this.#taken?.has(id) !== true;
  }

  async #look(): Promise<readonly unknown[]> {
    try {
      const stored = await this.#unanswered();
      this.#failing = false;
      return stored;
    } catch (thrown) {
      // The inbox items stay; each look would say the same.
      if (!this.#failing) this.#host.observation.report(thrown, "store");
      this.#failing = true;
      return [];
    }
  }

  #unanswered(): Promise<readonly unknown[]> {
    const { threadId } = this.#lease;
    return fromStore(threadId, "look into its inbox", async () => {
      const stored: unknown = await this.#inbox.unanswered(threadId);
      // A store is foreign code: its answer is checked.
      if (Array.isArray(stored)) return stored as readonly unknown[];
      throw new TypeError(`it gave ${stored === null ? "null" : typeof stored}, not a list of inbox items`);
    });
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
          own?.refused(refusal, state);
          void this.#answerRepeated(id, event, refusal, state?.context.seq ?? 0);
          return;
        }
        this.#answer({ id, handled: false, refusal });
        if (own !== null) void this.#refuseOnceWritten(id, () => own.refused(refusal, state), own);
      },
      failed: (error) => own?.failed(error),
    };
  }

  /** While its inbox item is not answered, it may still be taken by the next holder of the thread. */
  async #refuseOnceWritten(id: string, notify: () => void, own: Sender): Promise<void> {
    await this.#writing;
    const error = this.#failure;
    if (own instanceof Ask) {
      // A loop that ends fails its asks, or has them carried over; while the thread goes on, nothing else does.
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

  /** It may stand in the journal since before a crash that swallowed its answer. */
  async #answerRepeated(id: string, event: Event, refusal: Refusal, newest: number): Promise<void> {
    const seq = await this.#seqOf(event, newest);
    this.#answer(seq === null ? { id, handled: false, refusal } : { id, handled: true, seq });
  }

  async #seqOf(event: Event, newest: number): Promise<number | null> {
    const from = Math.max(0, newest - lookedBack);
    try {
      const stored = await this.#host.store.read(this.#lease.threadId, from);
      const index = stored.findLastIndex((entry) => isEntryOf(entry, event));
      return index < 0 ? null : from + index;
    } catch (thrown) {
      this.#report(thrown, "read the journal");
      return null;
    }
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
      // The next look tries again.
      this.#failure = this.#report(thrown, "answer inbox items");
    } finally {
      // At once, so that no answer comes between that would not be written.
      this.#writing = null;
    }
  }

  #lose(error: LeaseLostError): void {
    this.#failure = error;
    if (!this.#over) this.#holder.end(error);
  }

  /** Forgets answers that were not fetched. Should they still be asked for, the inbox item is left again and recognised. */
  async #clear(): Promise<void> {
    const { clock, pollMs } = this.#host;
    const before = clock.now() - keptPolls * pollMs;
    for (let [oldest] = this.#written; oldest !== undefined; [oldest] = this.#written) {
      if (oldest.at > before && this.#written.length <= keptMax) return;
      this.#written.shift();
      this.#taken?.delete(oldest.id);
      try {
        await this.#inbox.discard(this.#lease.threadId, oldest.id);
      } catch (thrown) {
        this.#report(thrown, "discard an inbox item");
        return;
      }
    }
  }

  #reportUnreadable(problem: string): void {
    this.#host.observation.report(new Error(`thread "${this.#lease.threadId}": ${problem}`), "inbox");
  }

  #report(thrown: unknown, doing: string): StoreError {
    const error = new StoreError(this.#lease.threadId, doing, thrown);
    this.#host.observation.report(error, "store");
    return error;
  }
}

/** How many entries may stand between that of an inbox item and its answer. */
const lookedBack = 4096;

/** A host that left an inbox item looks for its answer once in a poll: after so many it is not there any more. */
const keptPolls = 25;

/** The most written answers that are kept all the same. */
const keptMax = 1024;
