import type { Clock, Store } from "@colloquy/host";

/** The differences of a faulty store from a sound one. */
export type Fault = (sound: Store, clock: Clock) => Partial<Store>;

/** Stores with one fault each, and part of the name of a check that must notice it. */
export type Faults = readonly (readonly [what: string, noticedBy: string, Fault])[];

export const fault = (what: string, noticedBy: string, wrong: Fault): Faults[number] => [what, noticedBy, wrong];

/** Copies the methods of a store. */
export const bound = (store: Store): Store => ({
  acquire: (...given) => store.acquire(...given),
  renew: (...given) => store.renew(...given),
  release: (...given) => store.release(...given),
  abandoned: () => store.abandoned(),
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

/** Returns the search of a store that has one. */
export const searchOf =
  (store: Store): NonNullable<Store["search"]> =>
  (words, options) => {
    if (store.search === undefined) throw new Error("the memory store should have been able to search");
    return store.search(words, options);
  };

/** Returns a member that the memory store has, though its type is optional. */
export const present = <A>(value: A | undefined | null): A => {
  if (value === undefined || value === null) throw new Error("the memory store should have had it");
  return value;
};
