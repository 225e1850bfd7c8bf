/** Knows on whose behalf foreign code (a handler, a tool, a hook) is running. */
export interface CodeScope<Owner> {
  /** Runs code on behalf of an owner; with null on behalf of none. */
  run<Result>(owner: Owner | null, work: () => Result): Result;
  /** The owner of the code that calls this; null where it has none. */
  owner(): Owner | null;
}

/**
 * Where the platform follows code across what it awaits, as Node, Deno and Bun do, an owner is known all along; elsewhere,
 * as in a browser, until its code awaits something for the first time.
 */
export const codeScope = <Owner>(): CodeScope<Owner> => {
  const Storage = asyncLocalStorage();
  if (Storage === null) return scopeUntilAwait();
  const storage = new Storage();
  return {
    run: (owner, work) => storage.run(owner, work),
    // Nothing else is put there.
    owner: () => (storage.getStore() as Owner | null | undefined) ?? null,
  };
};

/** A scope that ends where code awaits something. */
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

/** As much of Node's class as is used here. */
type AsyncLocalStorage = new () => {
  run<Result>(store: unknown, work: () => Result): Result;
  getStore(): unknown;
};

/**
 * Asked for by name: an import would keep this package out of browsers. And not injected: nothing that is journalled or
 * shown depends on it, and a host that was not given one would wait for itself.
 */
const asyncLocalStorage = (): AsyncLocalStorage | null => {
  // oxlint-disable-next-line no-restricted-globals -- an import would keep this package out of browsers, and nothing journalled depends on it
  const platform = globalThis as {
    readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
  };
  // What Node documents to be there.
  const hooks = platform.process?.getBuiltinModule?.("node:async_hooks") as
    | { readonly AsyncLocalStorage?: AsyncLocalStorage }
    | undefined;
  return hooks?.AsyncLocalStorage ?? null;
};
