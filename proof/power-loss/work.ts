import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";

import { chunkText, entryOf, envelopeOf, threadIds } from "../kit/contents.ts";
import type { Random } from "../kit/random.ts";
import {
  appended,
  certainly,
  deleted,
  type Expected,
  expectedOf,
  type EnvelopeState,
  nothingThere,
  rewritten,
  snapshotSaved,
  type Step,
  underWay,
} from "./expected.ts";
import { chunksOf, headOf } from "./look.ts";

/** The knowledge about all threads, and the operations so far. */
export interface Knowledge {
  readonly threads: Map<string, Expected>;
  /** Counts what is written, so that no two of them are the same. */
  count: number;
  acknowledged: number;
  /** The thread to which something was done last. */
  threadId: string;
}

export const knowledge = (): Knowledge => ({
  threads: new Map(threadIds.map((threadId) => [threadId, expectedOf(nothingThere)])),
  count: 0,
  acknowledged: 0,
  threadId: "",
});

/** A process that works with a store. It does one thing after the other, as a host does with one thread. */
export class Worker {
  readonly #store: Store;
  readonly #known: Knowledge;
  readonly #random: Random;
  readonly #leases = new Map<string, Lease>();

  constructor(store: Store, known: Knowledge, random: Random) {
    this.#store = store;
    this.#known = known;
    this.#random = random;
  }

  /** Does one operation. If it throws, the knowledge keeps it as under way. */
  async work(): Promise<void> {
    const drawn = threadIds[this.#random.integer(0, threadIds.length - 1)] ?? "";
    const threadId = this.#random.percent(40) ? this.#known.threadId || drawn : drawn;
    this.#known.threadId = threadId;
    const expected = this.#known.threads.get(threadId);
    if (expected === undefined) throw new Error("all threads are known");
    const isThere = expected.thread.seen.journal.length > 0;
    const dice = this.#random.integer(1, 100);
    if (!isThere || dice <= 45) await this.#append(threadId, expected);
    else if (dice <= 55) await this.#rewrite(threadId, expected);
    else if (dice <= 70) await this.#saveSnapshot(threadId, expected);
    else if (dice <= 87) await this.#envelope(threadId, expected);
    else if (dice <= 95) await this.#delete(threadId, expected);
    else await this.#release(threadId);
    this.#known.acknowledged += 1;
  }

  async #append(threadId: string, expected: Expected): Promise<void> {
    const lease = await this.#lease(threadId);
    const newest = expected.thread.seen.journal.length - 1;
    const length = this.#random.percent(70) ? 1 : this.#random.integer(2, 6);
    const entries = Array.from({ length }, (_, index) =>
      entryOf(threadId, newest + 1 + index, this.#label(), this.#length()),
    );
    await this.#do(expected, appended(expected.thread, entries), () => this.#store.append(lease, newest, entries));
  }

  async #rewrite(threadId: string, expected: Expected): Promise<void> {
    const lease = await this.#lease(threadId);
    const seq = this.#random.integer(0, expected.thread.seen.journal.length - 1);
    const entry = entryOf(threadId, seq, this.#label(), this.#length());
    await this.#do(expected, rewritten(expected.thread, entry), () => this.#store.rewrite(lease, [entry]));
  }

  async #saveSnapshot(threadId: string, expected: Expected): Promise<void> {
    const lease = await this.#lease(threadId);
    const { journal, snapshot } = expected.thread.seen;
    const stored = snapshot === null ? [] : (chunksOf(snapshot) ?? []);
    const kept = stored.filter(() => this.#random.percent(60));
    const added = Array.from({ length: this.#random.integer(0, 2) }, () => this.#label());
    const head = headOf({ number: this.#known.count++, chunks: [...kept, ...added] });
    const draft = {
      threadId,
      seq: journal.length - 1,
      head,
      chunks: new Map(added.map((id) => [id, chunkText(id)])),
      dropped: stored.filter((id) => !kept.includes(id)),
    };
    await this.#do(expected, snapshotSaved(expected.thread, head), () => this.#store.saveSnapshot(lease, draft));
  }

  async #envelope(threadId: string, expected: Expected): Promise<void> {
    const { inbox } = this.#store;
    const left = Array.from(expected.envelopes).filter(([, { seen }]) => seen === "left");
    // One whose posting did not return is posted again, as by a host that got no answer.
    const doubtful = left.find(([, known]) => known.left.length > 1);
    const [id] = doubtful ?? left[this.#random.integer(0, left.length)] ?? [];
    const dice = doubtful === undefined ? this.#random.integer(1, 3) : 1;
    if (id === undefined || dice === 1) {
      const posted = id ?? this.#label();
      await this.#doEnvelope(expected, posted, "left", () => inbox?.post(threadId, envelopeOf(posted)));
    } else if (dice === 2) {
      const lease = await this.#lease(threadId);
      const answer = { id, handled: true, seq: 0 } as const;
      await this.#doEnvelope(expected, id, "answered", () => inbox?.answer(lease, [answer]));
    } else await this.#doEnvelope(expected, id, "absent", () => inbox?.discard(threadId, id));
  }

  async #delete(threadId: string, expected: Expected): Promise<void> {
    this.#leases.delete(threadId);
    const envelopes = [...expected.envelopes.keys()];
    for (const id of envelopes) this.#mayBecome(expected, id, "absent");
    await this.#do(expected, deleted(expected.thread), () => this.#store.delete(threadId));
    for (const id of envelopes) expected.envelopes.set(id, certainly("absent"));
  }

  async #release(threadId: string): Promise<void> {
    const lease = await this.#lease(threadId);
    this.#leases.delete(threadId);
    await this.#store.release(lease);
  }

  async #lease(threadId: string): Promise<Lease> {
    const lease = this.#leases.get(threadId) ?? (await this.#store.acquire(threadId, "owner", 1e9));
    if (lease === null) throw new Error(`the lease of thread "${threadId}" should have been free`);
    this.#leases.set(threadId, lease);
    return lease;
  }

  async #do(expected: Expected, step: Step, operation: () => unknown): Promise<void> {
    expected.thread = underWay(expected.thread, step.meanwhile);
    await operation();
    expected.thread = step.after;
  }

  async #doEnvelope(expected: Expected, id: string, state: EnvelopeState, operation: () => unknown): Promise<void> {
    this.#mayBecome(expected, id, state);
    await operation();
    expected.envelopes.set(id, certainly(state));
  }

  #mayBecome({ envelopes }: Expected, id: string, state: EnvelopeState): void {
    envelopes.set(id, underWay(envelopes.get(id) ?? certainly("absent"), [state]));
  }

  #label(): string {
    return `n${this.#known.count++}`;
  }

  /** Entries of less than a block, and of several. */
  #length(): number {
    return [5, 100, 700, 3000, 9000][this.#random.integer(0, 4)] ?? 5;
  }
}
