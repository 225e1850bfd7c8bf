import { setTimeout as delay } from "node:timers/promises";

import { type Lease, LeaseLostError, type LetterAnswer, type Store } from "@colloquy/host";

import type { Random } from "../kit/random.ts";
import { chunkText, digestIn, entryOf, type Head, headIn, letterOf, threadIds } from "../kit/contents.ts";
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
  #hold: Hold | null = null;
  #letters = 0;

  constructor(store: Store, threadId: string, boot: number, random: Random) {
    this.#store = store;
    this.#threadId = threadId;
    this.#boot = boot;
    this.#random = random;
  }

  async step(kind: "appends" | "all"): Promise<void> {
    try {
      const hold = await this.#take();
      if (hold === null) return await delay(1);
      const choice = kind === "appends" ? 0 : this.#random.integer(1, 100);
      if (choice <= 50) await this.#append(hold);
      else if (choice <= 60) await this.#saveSnapshot(hold);
      else if (choice <= 63) await this.#rewrite(hold);
      else if (choice <= 80) await this.#post();
      else if (choice <= 92) await this.#answer(hold);
      else await this.#discard();
    } catch (error) {
      // On a busy machine a lease may run out.
      if (!(error instanceof LeaseLostError)) throw error;
      this.#hold = null;
    }
  }

  /** The lease of the thread, taken again in good time; null while somebody else has it. */
  async #take(): Promise<Hold | null> {
    const now = Date.now();
    if (this.#hold !== null && now < this.#hold.until) return this.#hold;
    const lease = await this.#store.acquire(this.#threadId, `writer ${this.#boot}`, ttlMs);
    if (lease === null) return null;
    const seq = this.#hold?.seq ?? (await this.#store.read(this.#threadId)).length - 1;
    const head = this.#hold?.head ?? (await headOf(this.#store, this.#threadId));
    this.#hold = { lease, until: now + ttlMs / 2, seq, head };
    return this.#hold;
  }

  async #append(hold: Hold): Promise<void> {
    const count = this.#random.percent(70) ? 1 : this.#random.integer(2, 5);
    const entries = Array.from({ length: count }, (_, index) => this.#entryOf(hold.seq + 1 + index));
    await this.#store.append(hold.lease, hold.seq, entries);
    hold.seq += count;
    for (const entry of entries) {
      writeNote({ type: "appended", threadId: this.#threadId, seq: entry.seq, digest: digestIn(entry) ?? "" });
    }
  }

  async #rewrite(hold: Hold): Promise<void> {
    if (hold.seq < 0) return;
    const seq = this.#random.integer(0, hold.seq);
    const entry = this.#entryOf(seq);
    const note = { threadId: this.#threadId, seq, digest: digestIn(entry) ?? "" };
    writeNote({ type: "rewriting", ...note });
    await this.#store.rewrite(hold.lease, [entry]);
    writeNote({ type: "rewritten", ...note });
    // The snapshot is gone with it: the next one begins with its own chunks.
    hold.head = { number: hold.head.number, chunks: [] };
  }

  async #saveSnapshot(hold: Hold): Promise<void> {
    if (hold.seq < 0) return;
    const number = hold.head.number + 1;
    const added = Array.from({ length: this.#random.integer(0, 3) }, (_, index) => `${this.#boot}/${number}/${index}`);
    const kept = hold.head.chunks.slice(-5);
    const head: Head = { number, chunks: [...kept, ...added] };
    await this.#store.saveSnapshot(hold.lease, {
      threadId: this.#threadId,
      seq: hold.seq,
      head: JSON.stringify(head),
      chunks: new Map(added.map((id) => [id, chunkText(id)])),
      dropped: hold.head.chunks.slice(0, -5),
    });
    hold.head = head;
    writeNote({ type: "snapshot", threadId: this.#threadId, number });
  }

  async #post(): Promise<void> {
    this.#letters += 1;
    const letterId = `${this.#boot}/${this.#letters}`;
    await this.#store.inbox?.post(this.#threadId, letterOf(letterId));
    writeNote({ type: "posted", threadId: this.#threadId, letterId });
  }

  async #answer({ lease, seq }: Hold): Promise<void> {
    const unanswered = await unansweredIn(this.#store.inbox, this.#threadId);
    const answers = unanswered.slice(0, 2).map(({ id }): LetterAnswer => ({ id, handled: true, seq }));
    await this.#store.inbox?.answer(lease, answers);
    for (const { id } of answers) writeNote({ type: "answered", threadId: this.#threadId, letterId: id, seq });
  }

  async #discard(): Promise<void> {
    if (this.#letters === 0) return;
    const letterId = `${this.#boot}/${this.#random.integer(1, this.#letters)}`;
    writeNote({ type: "discarding", threadId: this.#threadId, letterId });
    await this.#store.inbox?.discard(this.#threadId, letterId);
    writeNote({ type: "discarded", threadId: this.#threadId, letterId });
  }

  /** Most are small; some are larger than a page of a database or of a file. */
  #entryOf(seq: number): ReturnType<typeof entryOf> {
    const length = this.#random.percent(90) ? this.#random.integer(10, 600) : this.#random.integer(4000, 100_000);
    return entryOf(this.#threadId, seq, `${this.#boot}/${this.#random.integer(0, 2 ** 30)}`, length);
  }
}

/** A lease, when to take it again, and what the writer knows of the thread. */
interface Hold {
  readonly lease: Lease;
  readonly until: number;
  seq: number;
  head: Head;
}

/** Short enough that whoever comes after a kill soon has the lease. */
const ttlMs = 100;

const headOf = async (store: Store, threadId: string): Promise<Head> => {
  const snapshot = await store.readSnapshot(threadId);
  return snapshot === null ? { number: 0, chunks: [] } : headIn(snapshot.head);
};
