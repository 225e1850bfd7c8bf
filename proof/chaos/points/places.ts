import { type Clock, memoryStore, type Store } from "@colloquy/host";

import { deleteThreads, leavePlace, newPlace, openStore } from "../../kit/places.ts";

/** A place for conversations. */
export interface Place {
  /** Opens it, with nothing in it. Its time is the clock's. */
  readonly open: (clock: Clock) => Promise<Store>;
  /** Removes all that was left there. */
  readonly leave: () => Promise<void>;
}

export const storeNames = ["memory", "sqlite", "files", "postgres", "redis"] as const;

export type StoreName = (typeof storeNames)[number];

export const memoryPlace: Place = { open: async (clock) => memoryStore({ clock }), leave: async () => undefined };

/** A place for a store; @throws where it needs a server and none is named. */
export const placeOf = (name: StoreName): Place => {
  if (name === "memory") return memoryPlace;
  const place = newPlace(name, "chaos-points");
  return {
    open: async (clock) => {
      const store = openStore(place, { clock });
      await deleteThreads(store);
      return store;
    },
    leave: () => leavePlace(place),
  };
};
