/** As much of the Web Locks API as is used here: `navigator.locks` is one. */
export interface TabLockManager {
  request<Result>(
    name: string,
    options: { readonly mode?: "exclusive" | "shared"; readonly ifAvailable?: boolean },
    callback: (lock: object | null) => Result | PromiseLike<Result>,
  ): Promise<Awaited<Result>>;
}

/**
 * Says that a tab lives: it holds a Web Lock of its own while it has a lease, and the browser takes the lock away when the
 * tab is closed, crashes or goes to another page. While it has no lease it holds none, so that the browser may keep the
 * page for the way back.
 */
export class TabLock {
  readonly #locks: TabLockManager;
  readonly #prefix: string;
  readonly #tab: string;
  readonly #users = new Set<string>();
  #held: Held | null = null;

  /** @param prefix what the names of all locks of one database begin with */
  constructor(locks: TabLockManager, prefix: string, tab: string) {
    this.#locks = locks;
    this.#prefix = prefix;
    this.#tab = tab;
  }

  /** Holds the lock for a thread from now on. Gives the name of this tab, by which others ask for it; null where the platform refuses locks. */
  async holdFor(threadId: string): Promise<string | null> {
    this.#users.add(threadId);
    this.#held ??= this.#hold();
    return (await this.#held.granted) ? this.#tab : null;
  }

  /** The thread needs the lock no more. */
  letGoFor(threadId: string): void {
    if (this.#users.delete(threadId) && this.#users.size === 0) this.#letGo();
  }

  /** Lets go, whatever is leased. */
  close(): void {
    this.#users.clear();
    this.#letGo();
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

  #letGo(): void {
    this.#held?.release();
    this.#held = null;
  }

  #hold(): Held {
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
