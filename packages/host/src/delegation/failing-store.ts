import { JournalUnreadableError, StoreError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { StorageError, type StorageProblem } from "../ports/storage-error.ts";

/** Tracks for how long a store has failed the followers of a thread, and whether that may pass. */
export class FailingStore {
  readonly #threadId: string;
  readonly #host: HostContext;
  #triedAt = 0;
  #since: number | null = null;

  constructor(threadId: string, host: HostContext) {
    this.#threadId = threadId;
    this.#host = host;
  }

  get isFailing(): boolean {
    return this.#since !== null;
  }

  /** Records that the store is called. */
  tries(): void {
    this.#triedAt = this.#host.clock.now();
  }

  /** Records a call that the store answered. */
  works(): void {
    this.#since = null;
  }

  /**
   * Reports an error of the store, which has failed since the call began: a store that does not answer fails late.
   *
   * @throws it when waiting cannot help, or when the store has failed for `storeTimeoutMs`
   */
  tolerate(thrown: unknown): void {
    const { clock, storeTimeoutMs, observation } = this.#host;
    const now = clock.now();
    this.#since ??= this.#triedAt;
    if (isLasting(thrown) || now - this.#since >= storeTimeoutMs) throw thrown;
    const error = thrown instanceof Error ? thrown : new StoreError(this.#threadId, "follow it", thrown);
    observation.report(error, "store");
  }
}

const isLasting = (thrown: unknown): boolean => {
  const cause = thrown instanceof StoreError ? thrown.cause : thrown;
  return thrown instanceof JournalUnreadableError || (cause instanceof StorageError && lasting.has(cause.kind));
};

/** Problems that no waiting mends. */
const lasting: ReadonlySet<StorageProblem> = new Set<StorageProblem>([
  "newer",
  "older",
  "not-a-store",
  "closed",
  "invalid-id",
]);
