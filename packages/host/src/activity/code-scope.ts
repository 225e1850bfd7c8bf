/** Knows on whose behalf foreign code (a handler, a tool, a hook) is running. */
export interface CodeScope<Owner> {
  /** Runs code on behalf of an owner, or of nobody if `owner` is null. */
  run<Result>(owner: Owner | null, work: () => Result): Result;
  /** Returns the owner of the calling code; null if it has none. */
  owner(): Owner | null;
}

/**
 * Makes a scope. On platforms that follow code across an `await`, as Node, Deno and Bun do, the owner is always known.
 * On others, such as browsers, it is known until the code first awaits something.
 */
export const codeScope = <Owner>(): CodeScope<Owner> => {
  const Storage = asyncLocalStorage();
  if (Storage === null) return scopeUntilAwait();
  const storage = new Storage();
  return {
    run: (owner, work) => storage.run(owner, work),
    // Nothing but an owner is ever stored there.
    owner: () => (storage.getStore() as Owner | null | undefined) ?? null,
  };
};

/** Makes a scope that ends when the code first awaits something. */
export const scopeUntilAwait = <Owner>(): CodeScope<Owner> => {
  let current: Owner | null = null;
  return {
    run: (owner, work) => {
      const before = current;
      current = owner;
      try {
        return work();
      } finally {
        current = before;
      }
    },
    owner: () => current,
  };
};

/** The part of Node's class that is used here. */
type AsyncLocalStorage = new () => {
  run<Result>(store: unknown, work: () => Result): Result;
  getStore(): unknown;
};

/**
 * Returns Node's class, looked up by name: an import would keep this package out of browsers. It is not injected:
 * nothing that is journalled or shown depends on it, and a host without it would wait for itself.
 */
const asyncLocalStorage = (): AsyncLocalStorage | null => {
  // oxlint-disable-next-line no-restricted-globals -- an import would keep this package out of browsers, and nothing journalled depends on it
  const platform = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  // Node documents that this is there.
  const hooks = platform.process?.getBuiltinModule?.("node:async_hooks") as
    | { readonly AsyncLocalStorage?: AsyncLocalStorage }
    | undefined;
  return hooks?.AsyncLocalStorage ?? null;
};
