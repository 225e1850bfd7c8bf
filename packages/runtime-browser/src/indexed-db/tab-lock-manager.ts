/** The used part of the Web Locks API; `navigator.locks` implements it. */
export interface TabLockManager {
  /**
   * Calls back when the lock is granted, and holds it until the callback's promise settles, or the tab is gone. With
   * `ifAvailable` it calls back at once, with null if another holds the lock. Resolves with the callback's result, and
   * rejects if the platform refuses locks.
   */
  request<Result>(
    name: string,
    options: { readonly mode?: "exclusive" | "shared"; readonly ifAvailable?: boolean },
    callback: (lock: object | null) => Result | PromiseLike<Result>,
  ): Promise<Awaited<Result>>;
}
