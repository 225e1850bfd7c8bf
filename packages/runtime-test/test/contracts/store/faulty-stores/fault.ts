import type { Clock, Store } from "@colloquy/host";

/** The differences of a faulty store from a sound one. */
export type Fault = (sound: Store, clock: Clock) => Partial<Store>;

/** Stores with one fault each, and a part of the name of a check that has to notice it. */
export type Faults = Readonly<Record<string, readonly [noticedBy: string, Fault]>>;

/** A store's methods, each for itself. */
export const bound = (store: Store): Store => ({
  acquire: (...given) => store.acquire(...given),
  renew: (...given) => store.renew(...given),
  release: (...given) => store.release(...given),
  append: (...given) => store.append(...given),
  read: (...given) => store.read(...given),
  rewrite: (...given) => store.rewrite(...given),
  saveSnapshot: (...given) => store.saveSnapshot(...given),
  readSnapshot: (...given) => store.readSnapshot(...given),
  list: (...given) => store.list(...given),
  ...(store.search && { search: searchOf(store) }),
  ...(store.inbox && { inbox: store.inbox }),
  ...(store.parts && { parts: store.parts }),
  delete: (...given) => store.delete(...given),
  close: () => store.close(),
});

/** How a store searches that can. */
export const searchOf =
  (store: Store): NonNullable<Store["search"]> =>
  (words, options) => {
    if (store.search === undefined) throw new Error("the memory store should have been able to search");
    return store.search(words, options);
  };

/** Returns a member that the memory store has and that is optional in its type. */
export const present = <A>(value: A | undefined | null): A => {
  if (value === undefined || value === null) throw new Error("the memory store should have had it");
  return value;
};
