import type { Clock } from "@colloquy/host";
import { checkTtl, type Lease, LeaseLostError } from "@colloquy/host/store";
import type { Database, LeaseRow, Writing } from "./database.ts";
import type { TabLock } from "./tab-lock.ts";

/**
 * The leases of threads. One counts until its time is over, and only as long as its tab lives, which its lock says. Whoever
 * writes looks at the lease in the same transaction: a tab that was stopped past its lease writes nothing.
 */
export class Leases {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #lock: TabLock | null;

  constructor(database: Database, clock: Clock, lock: TabLock | null) {
    this.#database = database;
    this.#clock = clock;
    this.#lock = lock;
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    checkTtl(ttlMs);
    const gone = await this.#ofGoneTab(threadId, owner);
    const tab = (await this.#lock?.holdFor(threadId)) ?? null;
    const lease = await this.#database
      .write(["leases", "counters"], (writing) => this.#take(writing, { threadId, owner, ttlMs, tab, gone }))
      .catch((error: unknown) => {
        void this.#letGoUnlessLeased(threadId, tab);
        throw error;
      });
    if (lease === null) await this.#letGoUnlessLeased(threadId, tab);
    return lease;
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    checkTtl(ttlMs);
    const renewed = await this.#database.write(["leases"], async (writing) => {
      const leases = writing.objectStore("leases");
      const row = await leases.get(lease.threadId);
      // One that ran out and was not taken is still its holder's to prolong.
      if (row === undefined || !isOf(row, lease)) return false;
      await leases.put({ ...row, until: this.#clock.now() + ttlMs }, lease.threadId);
      return true;
    });
    return renewed;
  }

  async release(lease: Lease): Promise<void> {
    const released = await this.#database.write(["leases"], async (writing) => {
      const leases = writing.objectStore("leases");
      const row = await leases.get(lease.threadId);
      if (row === undefined || !isOf(row, lease)) return false;
      await leases.delete(lease.threadId);
      return true;
    });
    if (released) this.#lock?.letGoFor(lease.threadId);
  }

  /** Forgets the lease of a thread, whoever has it, as part of a deletion. */
  async forget(writing: Writing, threadId: string): Promise<void> {
    await writing.objectStore("leases").delete(threadId);
  }

  /** @throws LeaseLostError for a lease that is not in force. `writing` has the table of leases. */
  async check(writing: Writing, lease: Lease): Promise<void> {
    const row = await writing.objectStore("leases").get(lease.threadId);
    if (row === undefined || !isOf(row, lease) || row.until <= this.#clock.now()) throw new LeaseLostError(lease);
  }

  close(): void {
    this.#lock?.close();
  }

  /** The token of another's lease that is in time, but whose tab is gone; null where there is none. */
  async #ofGoneTab(threadId: string, owner: string): Promise<number | null> {
    const row = await this.#database.read(["leases"], (reading) => reading.objectStore("leases").get(threadId));
    if (row === undefined || row.tab === null || this.#lock === null || !this.#isTaken(row, owner)) return null;
    return (await this.#lock.lives(row.tab)) ? null : row.token;
  }

  #isTaken({ owner, until }: LeaseRow, by: string): boolean {
    return owner !== by && until > this.#clock.now();
  }

  async #take(writing: Writing, { threadId, owner, ttlMs, tab, gone }: Wanted): Promise<Lease | null> {
    const leases = writing.objectStore("leases");
    const row = await leases.get(threadId);
    if (row !== undefined && this.#isTaken(row, owner) && row.token !== gone) return null;
    const counters = writing.objectStore("counters");
    // One for all threads, so that it outlives the deletion of any.
    const token = ((await counters.get("token")) ?? 0) + 1;
    await counters.put(token, "token");
    await leases.put({ owner, token, until: this.#clock.now() + ttlMs, tab }, threadId);
    return { threadId, owner, token };
  }

  /** Another owner of this very tab may have the thread. */
  async #letGoUnlessLeased(threadId: string, tab: string | null): Promise<void> {
    if (tab === null) return;
    const row = await this.#database.read(["leases"], (reading) => reading.objectStore("leases").get(threadId));
    if (row?.tab !== tab) this.#lock?.letGoFor(threadId);
  }
}

interface Wanted {
  readonly threadId: string;
  readonly owner: string;
  readonly ttlMs: number;
  readonly tab: string | null;
  readonly gone: number | null;
}

/** The owner too: after the user cleared the database its tokens begin anew. */
const isOf = (row: LeaseRow, lease: Lease): boolean => row.token === lease.token && row.owner === lease.owner;
