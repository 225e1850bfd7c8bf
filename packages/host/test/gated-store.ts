import type { Store } from "@colloquy/host";
import { settle } from "./stage.ts";

/** A store whose appends wait until they are passed, or fail on request. */
export interface GatedStore {
  readonly store: Store;
  /** Passes the oldest waiting append, or fails it with an error. */
  readonly pass: (error?: Error) => Promise<void>;
  /** The waiting writes, oldest first. */
  readonly waiting: readonly string[];
}

export const gated = (inner: Store): GatedStore => {
  const gates: { readonly type: string; readonly open: (error?: Error) => void }[] = [];
  return {
    store: overriding(inner, {
      append: async (...given) => {
        const type = given[2].map(({ event }) => event.type).join();
        const error = await new Promise<Error | undefined>((resolve) => gates.push({ type, open: resolve }));
        if (error !== undefined) throw error;
        await inner.append(...given);
      },
    }),
    get waiting() {
      return gates.map(({ type }) => type);
    },
    pass: async (error) => {
      gates.shift()?.open(error);
      await settle();
    },
  };
};

/** Replaces some methods of a store. */
export const overriding = (inner: Store, others: Partial<Store>): Store => ({
  acquire: (...given) => inner.acquire(...given),
  renew: (...given) => inner.renew(...given),
  release: (...given) => inner.release(...given),
  abandoned: () => inner.abandoned(),
  append: (...given) => inner.append(...given),
  read: (...given) => inner.read(...given),
  rewrite: (...given) => inner.rewrite(...given),
  saveSnapshot: (...given) => inner.saveSnapshot(...given),
  readSnapshot: (...given) => inner.readSnapshot(...given),
  list: (...given) => inner.list(...given),
  ...(inner.search === undefined ? {} : { search: (words, options) => inner.search?.(words, options) ?? nothingFound }),
  ...(inner.inbox === undefined ? {} : { inbox: inner.inbox }),
  ...(inner.parts === undefined ? {} : { parts: inner.parts }),
  delete: (...given) => inner.delete(...given),
  close: () => inner.close(),
  ...others,
});

const nothingFound = Promise.resolve({ hits: [], next: null });
