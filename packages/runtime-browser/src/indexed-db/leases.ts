import type { Clock } from "@colloquy/host";
import { checkTtl, type Lease, LeaseLostError } from "@colloquy/host/store";
import type { Database, LeaseRow, Writing } from "./database.ts";
import type { Hold, TabLock } from "./tab-lock.ts";

/**
 * The leases of threads. A lease is in force until it expires, and only while its tab is alive, as its lock shows. Each
 * write checks the lease in the same transaction, so a tab that was suspended past its lease writes nothing.
 *
 * Each lease of this tab is a separate reason to hold the tab's lock, until the lease is released, or the table shows
 * that it is no longer in force.
 */
export class Leases {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #lock: TabLock | null;
  /** The newest lease of each thread that this tab took; earlier ones are void. */
  readonly #held = new Map<string, HeldLease>();

  constructor(database: Database, clock: Clock, lock: TabLock | null) {
    this.#database = database;
    this.#clock = clock;
    this.#lock = lock;
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    checkTtl(ttlMs);
    const there = await this.#database.read(["leases"], async (reading) => {
      const row = await reading.objectStore("leases").get(threadId);
      this.#dropUnless(row, threadId);
      return row;
    });
    const other = there !== undefined && this.#isTaken(there, owner) ? there : null;
    // A request for a lease that another tab holds is refused without a write.
    if (other !== null && !(await this.#isOfGoneTab(other))) return null;
    const hold = (await this.#lock?.hold()) ?? null;
    let lease: Lease | null = null;
    try {
      lease = await this.#database.write(["leases", "counters"], (writing) =>
        this.#take(writing, { threadId, owner, ttlMs, tab: hold?.tab ?? null, gone: other?.token ?? null }),
      );
    } finally {
      if (lease === null) hold?.drop();
    }
    if (lease !== null && hold !== null) this.#keep({ lease, hold });
    return lease;
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    checkTtl(ttlMs);
    const renewed = this.#database.write(["leases"], async (writing) => {
      const row = await this.#rowOf(writing, lease);
      // If an expired lease was not taken, its holder can still renew it.
      if (row === null) return false;
      await writing.objectStore("leases").put({ ...row, until: this.#clock.now() + ttlMs }, lease.threadId);
      return true;
    });
    return ttlMs > 0 ? renewed : renewed.finally(() => this.#dropOf(lease));
  }

  async release(lease: Lease): Promise<void> {
    try {
      await this.#database.write(["leases"], async (writing) => {
        if ((await this.#rowOf(writing, lease)) !== null) await writing.objectStore("leases").delete(lease.threadId);
      });
    } finally {
      // Also if it could not be released, because nobody will use it any more.
      this.#dropOf(lease);
    }
  }

  async abandoned(): Promise<readonly string[]> {
    const [threadIds, rows] = await this.#database.read(["leases"], (reading) => {
      const leases = reading.objectStore("leases");
      return Promise.all([leases.getAllKeys(), leases.getAll()]);
    });
    const now = this.#clock.now();
    // Each tab is asked once, however many leases it has.
    const byTab = new Map(rows.flatMap((row) => (row.until > now ? [[row.tab, row] as const] : [])));
    const gone = new Set<string | null>();
    for (const [tab, row] of byTab) if (await this.#isOfGoneTab(row)) gone.add(tab);
    return threadIds.filter((_, index) => {
      const row = rows[index];
      return row !== undefined && (row.until <= now || gone.has(row.tab));
    });
  }

  /**
   * Deletes the lease of a thread, also another tab's, as part of a deletion. Returns a function to call after the
   * transaction.
   */
  async forget(writing: Writing, threadId: string): Promise<() => void> {
    await writing.objectStore("leases").delete(threadId);
    const held = this.#held.get(threadId);
    return () => {
      if (held !== undefined) this.#drop(held);
    };
  }

  /**
   * @throws LeaseLostError for a lease that is not in force. The transaction `writing` must include the table of
   * leases.
   */
  async check(writing: Writing, lease: Lease): Promise<void> {
    const row = await this.#rowOf(writing, lease);
    if (row === null || row.until <= this.#clock.now()) throw new LeaseLostError(lease);
  }

  close(): void {
    this.#lock?.close();
  }

  /** Returns the row of a lease; null if it was released, taken or deleted. */
  async #rowOf(writing: Writing, lease: Lease): Promise<LeaseRow | null> {
    const row = await writing.objectStore("leases").get(lease.threadId);
    this.#dropUnless(row, lease.threadId);
    return row !== undefined && isOf(row, lease) ? row : null;
  }

  async #isOfGoneTab({ tab }: LeaseRow): Promise<boolean> {
    return tab !== null && this.#lock !== null && !(await this.#lock.lives(tab));
  }

  #isTaken({ owner, until }: LeaseRow, by: string): boolean {
    return owner !== by && until > this.#clock.now();
  }

  async #take(writing: Writing, { threadId, owner, ttlMs, tab, gone }: Wanted): Promise<Lease | null> {
    const leases = writing.objectStore("leases");
    const row = await leases.get(threadId);
    if (row !== undefined && this.#isTaken(row, owner) && row.token !== gone) return null;
    const counters = writing.objectStore("counters");
    // One counter for all threads, so that it outlives the deletion of any thread.
    const token = ((await counters.get("token")) ?? 0) + 1;
    await counters.put(token, "token");
    await leases.put({ owner, token, until: this.#clock.now() + ttlMs, tab }, threadId);
    return { threadId, owner, token };
  }

  #keep(held: HeldLease): void {
    this.#held.get(held.lease.threadId)?.hold.drop();
    this.#held.set(held.lease.threadId, held);
  }

  /** Drops the hold of this tab's lease if the table has another lease of the thread, or none. */
  #dropUnless(row: LeaseRow | undefined, threadId: string): void {
    const held = this.#held.get(threadId);
    if (held !== undefined && (row === undefined || !isOf(row, held.lease))) this.#drop(held);
  }

  #dropOf(lease: Lease): void {
    const held = this.#held.get(lease.threadId);
    if (held !== undefined && isOf(held.lease, lease)) this.#drop(held);
  }

  #drop(held: HeldLease): void {
    const { threadId } = held.lease;
    if (this.#held.get(threadId) === held) this.#held.delete(threadId);
    held.hold.drop();
  }
}

/** A lease of this tab, and its hold on the tab's lock. */
interface HeldLease {
  readonly lease: Lease;
  readonly hold: Hold;
}

interface Wanted {
  readonly threadId: string;
  readonly owner: string;
  readonly ttlMs: number;
  readonly tab: string | null;
  /** The token of a lease in force whose tab is gone. */
  readonly gone: number | null;
}

/** Compares the owner too: after the user has cleared the database, its tokens start from the beginning. */
const isOf = (row: Pick<LeaseRow, "owner" | "token">, lease: Lease): boolean =>
  row.token === lease.token && row.owner === lease.owner;
