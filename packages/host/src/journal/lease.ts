import type { Entry } from "@colloquy/machine";
import { StoreError, StoreTimeoutError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { fromStore, storeErrorOf } from "../ports/store-call.ts";
import { type Lease, LeaseLostError } from "../ports/store.ts";

/** A lease that renews itself at a third of its time, until it is given back or lost. */
export class HeldLease {
  readonly lease: Lease;
  readonly #host: HostContext;
  readonly #onLost: (error: LeaseLostError) => void;
  #until: number;
  #cancel: () => void;
  #over = false;
  #isUnanswered = false;

  private constructor(lease: Lease, host: HostContext, takenAt: number, onLost: (error: LeaseLostError) => void) {
    this.lease = lease;
    this.#host = host;
    this.#onLost = onLost;
    this.#until = takenAt + host.leaseTtlMs;
    this.#cancel = this.#wake(takenAt);
  }

  /** Takes the lease of a thread; null while another host holds it. @throws StoreError */
  static async take(
    threadId: string,
    host: HostContext,
    onLost: (error: LeaseLostError) => void,
  ): Promise<HeldLease | null> {
    const takenAt = host.clock.now();
    const lease = await acquire(threadId, host);
    return lease === null ? null : new HeldLease(lease, host, takenAt, onLost);
  }

  /** It was not renewed in time, because the store did not answer or the process stood still: another host may have it. */
  get ranOut(): boolean {
    return this.#host.clock.now() >= this.#until;
  }

  /** Whether the store left an append without an answer. */
  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  /** Adds entries to the journal, all or none, durable when the promise resolves, or at once. @throws LeaseLostError, SequenceConflictError, StoreError */
  append(entries: readonly Entry[]): void | Promise<void> {
    const { threadId } = this.lease;
    try {
      const appending = this.#host.store.append(this.lease, (entries[0]?.seq ?? 0) - 1, entries);
      // A thenable of a library has no catch of its own.
      if (appending === undefined) return undefined;
      return Promise.resolve(appending).catch((thrown: unknown) => {
        this.#isUnanswered = thrown instanceof StoreTimeoutError;
        throw storeErrorOf(threadId, entries.length > 1 ? "append entries" : "append an entry", thrown);
      });
    } catch (thrown) {
      throw storeErrorOf(threadId, entries.length > 1 ? "append entries" : "append an entry", thrown);
    }
  }

  /** Gives it back. Never rejects: one that can't be given back runs out. */
  async release(): Promise<void> {
    this.#stop();
    try {
      await this.#host.store.release(this.lease);
    } catch (thrown) {
      this.#report(thrown, "release a lease");
    }
  }

  /** Reckoned from when it was last asked for: an attempt may take as long as lies between two, so that the last is over with the lease. */
  #wake(askedAt: number): () => void {
    return this.#host.clock.wakeAt(askedAt + renewMsOf(this.#host.leaseTtlMs), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { store, leaseTtlMs, clock } = this.#host;
    const askedAt = clock.now();
    let kept = false;
    try {
      kept = await store.renew(this.lease, leaseTtlMs);
      if (kept) this.#until = askedAt + leaseTtlMs;
    } catch (thrown) {
      // The store may be back before the lease has run out.
      kept = clock.now() < this.#until;
      this.#report(thrown, "renew a lease");
    }
    if (this.#over) return;
    if (kept) {
      this.#cancel = this.#wake(askedAt);
      return;
    }
    this.#stop();
    this.#onLost(new LeaseLostError(this.lease));
  }

  #stop(): void {
    this.#over = true;
    this.#cancel();
  }

  #report(thrown: unknown, doing: string): void {
    this.#host.observation.report(new StoreError(this.lease.threadId, doing, thrown), "store");
  }
}

/** How long after one attempt to renew a lease the next is due. */
export const renewMsOf = (leaseTtlMs: number): number => Math.ceil(leaseTtlMs / 3);

const acquire = (threadId: string, { store, leaseTtlMs, owner }: HostContext): Promise<Lease | null> =>
  fromStore(threadId, "acquire its lease", async () => {
    // A store is foreign code: its answer is checked.
    const lease: unknown = await store.acquire(threadId, owner, leaseTtlMs);
    if (lease === null || isLease(lease)) return lease;
    const given = lease === undefined ? "nothing" : `what is no lease (${typeof lease})`;
    throw new TypeError(`it gave ${given} in place of a lease, or of null while another owner has it`);
  });

const isLease = (value: unknown): value is Lease =>
  typeof value === "object" && value !== null && "threadId" in value && "token" in value;
