import type { Clock } from "../ports/clock.ts";
import type { Inbox } from "../ports/store.ts";

/** The inbox of a held thread. */
export interface WatchedInbox {
  /** Whether its holder has something to write to it, even if no item waits. */
  readonly isOwed: boolean;
  look(): Promise<void>;
}

interface WatchOptions {
  readonly clock: Clock;
  readonly pollMs: number;
  readonly inbox: Inbox | undefined;
  readonly report: (error: unknown) => void;
}

/**
 * Looks at the inboxes of all held threads every `pollMs`, with one timer and one call of the store: idle threads cost
 * nothing.
 */
export class InboxWatch {
  readonly #options: WatchOptions;
  readonly #watched = new Map<string, WatchedInbox>();
  #cancel: (() => void) | null = null;
  #isLooking = false;
  /** Whether the last look failed: each further one would report the same error. */
  #isFailing = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  add(threadId: string, inbox: WatchedInbox): void {
    this.#watched.set(threadId, inbox);
    if (!this.#isLooking) this.#wait();
  }

  remove(threadId: string, inbox: WatchedInbox): void {
    if (this.#watched.get(threadId) === inbox) this.#watched.delete(threadId);
    if (this.#watched.size > 0) return;
    this.#cancel?.();
    this.#cancel = null;
  }

  #wait(): void {
    const { clock, pollMs } = this.#options;
    this.#cancel ??= clock.wakeAt(clock.now() + pollMs, () => {
      this.#cancel = null;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const waiting = await this.#waiting();
    this.#isLooking = false;
    for (const [threadId, inbox] of this.#watched) if (waiting.has(threadId) || inbox.isOwed) void inbox.look();
    if (this.#watched.size > 0) this.#wait();
  }

  async #waiting(): Promise<ReadonlySet<string>> {
    const { inbox, report } = this.#options;
    try {
      const ids = new Set(await inbox?.waiting());
      this.#isFailing = false;
      return ids;
    } catch (thrown) {
      if (!this.#isFailing) report(thrown);
      this.#isFailing = true;
      return new Set();
    }
  }
}
