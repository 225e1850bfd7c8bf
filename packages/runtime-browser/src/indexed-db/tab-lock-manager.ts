/** As much of the Web Locks API as is used here: `navigator.locks` is one. */
export interface TabLockManager {
  /**
   * Calls back when the lock is had, and holds it until what the callback gives is settled, or the tab is gone. With
   * `ifAvailable` it calls back at once, with null where another holds the lock. Resolves with what the callback gave, and
   * rejects where the platform refuses locks.
   */
  request<Result>(
    name: string,
    options: { readonly mode?: "exclusive" | "shared"; readonly ifAvailable?: boolean },
    callback: (lock: object | null) => Result | PromiseLike<Result>,
  ): Promise<Awaited<Result>>;
}
