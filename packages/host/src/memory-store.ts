import type { Entry } from "@colloquy/machine";
import type { Clock } from "./ports/clock.ts";
import type { Lease, Store, StoredThread } from "./ports/store.ts";
import { LeaseLostError, SequenceConflictError } from "./ports/store.ts";

/**
 * A store that lives as long as the process. Entries are kept as JSON text, so nobody can change what is journalled,
 * and what is read is what any other store would give. Appending is done when it returns.
 */
export const memoryStore = (options: { readonly clock: Clock }): Store => new MemoryStore(options.clock);

class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #journals = new Map<string, StoredJournal>();
  readonly #grants = new Map<string, Grant>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const until = this.#endOf(ttlMs);
    const grant = this.#grants.get(threadId);
    if (grant !== undefined && grant.until > this.#clock.now() && grant.owner !== owner) return null;
    const token = (grant?.token ?? 0) + 1;
    this.#grants.set(threadId, { owner, token, until });
    return { threadId, owner, token };
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    const until = this.#endOf(ttlMs);
    const grant = this.#grants.get(lease.threadId);
    // One that ran out and that nobody took is still its holder's to prolong.
    if (grant?.token !== lease.token || grant.until === givenBack) return false;
    this.#grants.set(lease.threadId, { ...grant, until });
    return true;
  }

  async release({ threadId, token }: Lease): Promise<void> {
    if (this.#grants.get(threadId)?.token === token) this.#giveBack(threadId);
  }

  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void> {
    const { threadId } = lease;
    const grant = this.#grants.get(threadId);
    if (grant?.token !== lease.token || grant.until <= this.#clock.now())
      return Promise.reject(new LeaseLostError(lease));
    const journal = this.#journals.get(threadId) ?? [];
    const seq = journal.length - 1;
    if (seq !== expectedSeq) return Promise.reject(new SequenceConflictError(threadId, expectedSeq, seq));
    const misplaced = entries.find((entry, index) => entry.seq !== expectedSeq + 1 + index);
    if (misplaced !== undefined) {
      return Promise.reject(
        new RangeError(`thread "${threadId}": entry ${misplaced.seq} is out of order after ${expectedSeq}`),
      );
    }
    const texts = entries.map((entry) => JSON.stringify(entry));
    if (texts.length > 0) this.#journals.set(threadId, journal);
    journal.push(...texts);
  }

  async read(threadId: string, fromSeq: number = 0): Promise<readonly unknown[]> {
    const journal = this.#journals.get(threadId) ?? [];
    return journal.slice(fromSeq).map((text): unknown => JSON.parse(text));
  }

  async list(page: { readonly after?: string; readonly limit?: number } = {}): Promise<readonly StoredThread[]> {
    const { after, limit } = page;
    const threads = [...this.#journals].map(([threadId, { length }]) => ({ threadId, seq: length - 1 }));
    return threads
      .filter(({ threadId }) => after === undefined || threadId > after)
      .sort((one, other) => (one.threadId < other.threadId ? -1 : 1))
      .slice(0, limit);
  }

  async delete(threadId: string): Promise<boolean> {
    this.#giveBack(threadId);
    return this.#journals.delete(threadId);
  }

  async close(): Promise<void> {}

  #endOf(ttlMs: number): number {
    if (ttlMs >= 0) return this.#clock.now() + ttlMs;
    throw new RangeError(`a lease can't last ${ttlMs} ms; give a number of 0 or more`);
  }

  /** The token stays known: the next one is greater. */
  #giveBack(threadId: string): void {
    const grant = this.#grants.get(threadId);
    if (grant !== undefined) this.#grants.set(threadId, { ...grant, until: givenBack });
  }
}

/** The entries of a thread as JSON text, each at the index of its seq. */
type StoredJournal = string[];

interface Grant {
  readonly owner: string;
  readonly token: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

const givenBack = -1;
