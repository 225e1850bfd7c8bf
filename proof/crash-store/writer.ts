import { setTimeout as delay } from "node:timers/promises";

import { type Lease, LeaseLostError, type InboxAnswer } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";

import type { Random } from "../kit/random.ts";
import { chunkText, digestIn, entryOf, type Head, headIn, envelopeOf, threadIds } from "../kit/contents.ts";
import { unansweredIn } from "../kit/store-checks.ts";
import { writeNote } from "./notes.ts";

/** Writes at full speed, and notes what is acknowledged, until it is killed. */
export const write = async (store: Store, boot: number, random: Random, kind: "appends" | "all"): Promise<never> => {
  const threads = threadIds.map((threadId) => new Thread(store, threadId, boot, random));
  for (;;) {
    const thread = threads[random.integer(0, threads.length - 1)];
    await thread?.step(kind);
  }
};

/** The work on one thread. */
class Thread {
  readonly #store: Store;
  readonly #threadId: string;
  readonly #boot: number;
  readonly #random: Random;
  #leased: LeasedThread | null = null;
  #envelopes = 0;

  constructor(store: Store, threadId: string, boot: number, random: Random) {
    this.#store = store;
    this.#threadId = threadId;
    this.#boot = boot;
    this.#random = random;
  }

  async step(kind: "appends" | "all"): Promise<void> {
    try {
      const leased = await this.#take();
      if (leased === null) return await delay(1);
      const choice = kind === "appends" ? 0 : this.#random.integer(1, 100);
      if (choice <= 50) await this.#append(leased);
      else if (choice <= 60) await this.#saveSnapshot(leased);
      else if (choice <= 63) await this.#rewrite(leased);
      else if (choice <= 80) await this.#post();
      else if (choice <= 92) await this.#answer(leased);
      else await this.#discard();
    } catch (error) {
      // On a busy machine a lease may run out.
      if (!(error instanceof LeaseLostError)) throw error;
      this.#leased = null;
    }
  }

  /** The lease of the thread, taken again in good time; null while another writer has it. */
  async #take(): Promise<LeasedThread | null> {
    const now = Date.now();
    if (this.#leased !== null && now < this.#leased.until) return this.#leased;
    const lease = await this.#store.acquire(this.#threadId, `writer ${this.#boot}`, ttlMs);
    if (lease === null) return null;
    const seq = this.#leased?.seq ?? (await this.#store.read(this.#threadId)).length - 1;
    const head = this.#leased?.head ?? (await headOf(this.#store, this.#threadId));
    this.#leased = { lease, until: now + ttlMs / 2, seq, head };
    return this.#leased;
  }

  async #append(leased: LeasedThread): Promise<void> {
    const count = this.#random.percent(70) ? 1 : this.#random.integer(2, 5);
    const entries = Array.from({ length: count }, (_, index) => this.#entryOf(leased.seq + 1 + index));
    await this.#store.append(leased.lease, leased.seq, entries);
    leased.seq += count;
    for (const entry of entries) {
      writeNote({ type: "appended", threadId: this.#threadId, seq: entry.seq, digest: digestIn(entry) ?? "" });
    }
  }

  async #rewrite(leased: LeasedThread): Promise<void> {
    if (leased.seq < 0) return;
    const seq = this.#random.integer(0, leased.seq);
    const entry = this.#entryOf(seq);
    const note = { threadId: this.#threadId, seq, digest: digestIn(entry) ?? "" };
    writeNote({ type: "rewriting", ...note });
    await this.#store.rewrite(leased.lease, [entry]);
    writeNote({ type: "rewritten", ...note });
    // The snapshot is gone with it: the next one begins with its own chunks.
    leased.head = { number: leased.head.number, chunks: [] };
  }

  async #saveSnapshot(leased: LeasedThread): Promise<void> {
    if (leased.seq < 0) return;
    const number = leased.head.number + 1;
    const added = Array.from({ length: this.#random.integer(0, 3) }, (_, index) => `${this.#boot}/${number}/${index}`);
    const kept = leased.head.chunks.slice(-5);
    const head: Head = { number, chunks: [...kept, ...added] };
    await this.#store.saveSnapshot(leased.lease, {
      threadId: this.#threadId,
      seq: leased.seq,
      head: JSON.stringify(head),
      chunks: new Map(added.map((id) => [id, chunkText(id)])),
      dropped: leased.head.chunks.slice(0, -5),
    });
    leased.head = head;
    writeNote({ type: "snapshot", threadId: this.#threadId, number });
  }

  async #post(): Promise<void> {
    this.#envelopes += 1;
    const envelopeId = `${this.#boot}/${this.#envelopes}`;
    await this.#store.inbox?.post(this.#threadId, envelopeOf(envelopeId));
    writeNote({ type: "posted", threadId: this.#threadId, envelopeId });
  }

  async #answer({ lease, seq }: LeasedThread): Promise<void> {
    const unanswered = await unansweredIn(this.#store.inbox, this.#threadId);
    const answers = unanswered.slice(0, 2).map(({ id }): InboxAnswer => ({ id, handled: true, seq }));
    await this.#store.inbox?.answer(lease, answers);
    for (const { id } of answers) writeNote({ type: "answered", threadId: this.#threadId, envelopeId: id, seq });
  }

  async #discard(): Promise<void> {
    if (this.#envelopes === 0) return;
    const envelopeId = `${this.#boot}/${this.#random.integer(1, this.#envelopes)}`;
    writeNote({ type: "discarding", threadId: this.#threadId, envelopeId });
    await this.#store.inbox?.discard(this.#threadId, envelopeId);
    writeNote({ type: "discarded", threadId: this.#threadId, envelopeId });
  }

  /** Most are small; some are larger than a page of a database or of a file. */
  #entryOf(seq: number): ReturnType<typeof entryOf> {
    const length = this.#random.percent(90) ? this.#random.integer(10, 600) : this.#random.integer(4000, 100_000);
    return entryOf(this.#threadId, seq, `${this.#boot}/${this.#random.integer(0, 2 ** 30)}`, length);
  }
}

/** A lease, when to take it again, and what the writer knows of the thread. */
interface LeasedThread {
  readonly lease: Lease;
  readonly until: number;
  seq: number;
  head: Head;
}

/** Short enough that the process after a kill soon has the lease. */
const ttlMs = 100;

const headOf = async (store: Store, threadId: string): Promise<Head> => {
  const snapshot = await store.readSnapshot(threadId);
  return snapshot === null ? { number: 0, chunks: [] } : headIn(snapshot.head);
};
