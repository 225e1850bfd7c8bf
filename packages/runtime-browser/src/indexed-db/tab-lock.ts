import type { TabLockManager } from "./tab-lock-manager.ts";

/** A reason for a tab to hold its lock. */
export interface Hold {
  /** The name of this tab, by which others ask for its lock. */
  readonly tab: string;
  /** The reason is gone. May be called again. */
  drop(): void;
}

/**
 * Says that a tab lives: it holds a Web Lock of its own while there is a reason, and the browser takes the lock away when the
 * tab is closed, crashes or goes to another page. Without a reason it holds none, so that the browser may keep the page for
 * the way back.
 */
export class TabLock {
  readonly #locks: TabLockManager;
  readonly #prefix: string;
  readonly #tab: string;
  readonly #holds = new Set<Hold>();
  #held: Held | null = null;

  /** @param prefix what the names of all locks of one database begin with */
  constructor(locks: TabLockManager, prefix: string, tab: string) {
    this.#locks = locks;
    this.#prefix = prefix;
    this.#tab = tab;
  }

  /** Holds the lock until this hold and all others are dropped. Null where the platform refuses locks. */
  async hold(): Promise<Hold | null> {
    const hold: Hold = { tab: this.#tab, drop: () => this.#drop(hold) };
    this.#holds.add(hold);
    this.#held ??= this.#request();
    if (await this.#held.granted) return hold;
    hold.drop();
    return null;
  }

  /** Lets go, whatever it is held for. */
  close(): void {
    for (const hold of this.#holds) hold.drop();
  }

  /** Whether a tab is there that holds its lock. Looking is shared, so that two who look don't take each other for it. */
  async lives(tab: string): Promise<boolean> {
    try {
      return await this.#locks.request(
        this.#prefix + tab,
        { mode: "shared", ifAvailable: true },
        (lock) => lock === null,
      );
    } catch {
      // The platform does not say: the lease then counts as long as it lasts.
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
    // Refused, as in a document without an origin.
    whole.catch(() => granted.resolve(false));
    return { granted: granted.promise, release: () => released.resolve() };
  }
}

interface Held {
  readonly granted: Promise<boolean>;
  readonly release: () => void;
}
