import type { Entry } from "@colloquy/machine";
import { StoreError, StoreTimeoutError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { type Lease, LeaseLostError, type Store } from "../ports/store.ts";

/** A lease that renews itself at a third of its time, until it is given back or lost. */
export class HeldLease {
  readonly lease: Lease;
  readonly #host: HostContext;
  readonly #onLost: (error: LeaseLostError) => void;
  #until: number;
  #cancel: () => void;
  #over = false;
  /** Whether the store left an append without an answer. */
  isUnanswered = false;
  /** Whether nothing is outstanding in the thread. False as long as that is not known. */
  isOver = false;

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
    const lease = await host.store.acquire(threadId, host.owner, host.leaseTtlMs);
    return lease === null ? null : new HeldLease(lease, host, takenAt, onLost);
  }

  /** It was not renewed in time, because the store did not answer or the process stood still: another host may have it. */
  get ranOut(): boolean {
    return this.#host.clock.now() >= this.#until;
  }

  /** Adds entries to the journal, all or none, durable when the promise resolves, or at once. @throws LeaseLostError, SequenceConflictError, StoreError */
  append(entries: readonly Entry[]): void | Promise<void> {
    const appending = this.#host.store.append(this.lease, (entries[0]?.seq ?? 0) - 1, entries);
    if (appending === undefined) return undefined;
    return appending.catch((thrown: unknown) => {
      this.isUnanswered = thrown instanceof StoreError && thrown.cause instanceof StoreTimeoutError;
      throw thrown;
    });
  }

  /**
   * Gives it back if nothing is outstanding. Otherwise lets it run out at once, for any host to take, and for recovery to
   * look at the thread. Never rejects.
   */
  async end(): Promise<void> {
    this.#stop();
    await (this.isOver ? this.#call((store) => store.release(this.lease)) : this.#leave());
  }

  #leave(): Promise<void> {
    return this.#call((store) => store.renew(this.lease, 0));
  }

  async #call(call: (store: Store) => Promise<unknown>): Promise<void> {
    try {
      await call(this.#host.store);
    } catch (thrown) {
      this.#host.observation.report(thrown, "store");
    }
  }

  /** Counted from when it was asked for, so that the last attempt is over when the lease is. */
  #wake(askedAt: number): () => void {
    return this.#host.clock.wakeAt(askedAt + renewMsOf(this.#host.leaseTtlMs), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { store, leaseTtlMs, clock, observation } = this.#host;
    const askedAt = clock.now();
    let kept: boolean;
    try {
      kept = await store.renew(this.lease, leaseTtlMs);
      if (kept) this.#until = askedAt + leaseTtlMs;
    } catch (thrown) {
      // The store may be back before the lease has run out.
      kept = clock.now() < this.#until;
      observation.report(thrown, "store");
    }
    if (this.#over) {
      // It may have been renewed after it was left.
      if (kept && !this.isOver) await this.#leave();
      return;
    }
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
}

/** How long after one attempt to renew a lease the next is due. */
export const renewMsOf = (leaseTtlMs: number): number => Math.ceil(leaseTtlMs / 3);
