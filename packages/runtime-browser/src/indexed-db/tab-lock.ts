import type { TabLockManager } from "./tab-lock-manager.ts";

/** A reason for a tab to hold its lock. */
export interface Hold {
  /** The name of this tab, by which others request its lock. */
  readonly tab: string;
  /** Drops this reason. May be called repeatedly. */
  drop(): void;
}

/**
 * Shows that a tab is alive. The tab holds its own Web Lock while there is a reason. The browser releases the lock when
 * the tab is closed, crashes or navigates away. Without a reason the tab holds none, so that the browser can keep the
 * page in its back/forward cache.
 */
export class TabLock {
  readonly #locks: TabLockManager;
  readonly #prefix: string;
  readonly #tab: string;
  readonly #holds = new Set<Hold>();
  #held: Held | null = null;

  /** @param prefix the beginning of the names of all locks of one database */
  constructor(locks: TabLockManager, prefix: string, tab: string) {
    this.#locks = locks;
    this.#prefix = prefix;
    this.#tab = tab;
  }

  /** Holds the lock until this hold and all others are dropped. Returns null if the platform refuses locks. */
  async hold(): Promise<Hold | null> {
    const hold: Hold = { tab: this.#tab, drop: () => this.#drop(hold) };
    this.#holds.add(hold);
    this.#held ??= this.#request();
    if (await this.#held.granted) return hold;
    hold.drop();
    return null;
  }

  /** Releases the lock, whatever it is held for. */
  close(): void {
    for (const hold of this.#holds) hold.drop();
  }

  /**
   * Returns whether a tab is alive and holds its lock. The check uses a shared lock, so that two checking tabs do not
   * mistake each other for it.
   */
  async lives(tab: string): Promise<boolean> {
    try {
      return await this.#locks.request(
        this.#prefix + tab,
        { mode: "shared", ifAvailable: true },
        (lock) => lock === null,
      );
    } catch {
      // The platform does not tell, so the lease counts until it expires.
      return true;
    }
  }

  #drop(hold: Hold): void {
    if (!this.#holds.delete(hold) || this.#holds.size > 0) return;
    this.#held?.release();
    this.#held = null;
  }

  #request(): Held {
    const released = Promise.withResolvers<void>();
    const granted = Promise.withResolvers<boolean>();
    const whole = this.#locks.request(this.#prefix + this.#tab, { mode: "exclusive" }, () => {
      granted.resolve(true);
      return released.promise;
    });
    // Refused, for example in a document without an origin.
    whole.catch(() => granted.resolve(false));
    return { granted: granted.promise, release: () => released.resolve() };
  }
}

interface Held {
  readonly granted: Promise<boolean>;
  readonly release: () => void;
}
