import type { Store } from "@colloquy/host";

/** The observed calls of a store. */
export interface Watch {
  /** Entries are about to be appended, by a host that takes its lease for good. */
  readonly appends: () => void;
  /** An entry is known to be stored, and where. */
  readonly stored: (seq: number) => void;
  /** How many more calls are under way, or how many fewer. */
  readonly underWay: (change: 1 | -1) => void;
}

/** The same store, watched. */
export const watched = (store: Store, watch: Watch): Store => {
  const inner = counted(store, watch);
  return new Proxy(inner, {
    get: (target, name) => {
      if (name === "append")
        return async (...args: Parameters<Store["append"]>): Promise<void> => {
          watch.appends();
          await target.append(...args);
          watch.stored(args[1] + args[2].length);
        };
      if (name === "read")
        return async (threadId: string, fromSeq = 0): Promise<readonly unknown[]> => {
          const entries = await target.read(threadId, fromSeq);
          // Who reads from there on has the others from a snapshot.
          watch.stored(fromSeq + entries.length - 1);
          return entries;
        };
      const member: unknown = Reflect.get(target, name);
      return member;
    },
  });
};

/** The same object, whose calls are counted while they are under way, and those of its parts. */
const counted = <Part extends object>(part: Part, watch: Watch): Part =>
  new Proxy(part, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === "object" && member !== null) return counted(member, watch);
      if (typeof member !== "function") return member;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        watch.underWay(1);
        try {
          return await Reflect.apply(member, target, args);
        } finally {
          watch.underWay(-1);
        }
      };
    },
  });
