import { type Clock, memoryStore, type Store } from "@colloquy/host";

import { deleteThreads, leavePlace, newPlace, openStore } from "../kit/places.ts";
import { serverUrl } from "../kit/server-urls.ts";

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

/** A place for a store; null where it needs a server and none is named. */
export const placeOf = (name: StoreName): Place | null => {
  if (name === "memory") return memoryPlace;
  if ((name === "postgres" || name === "redis") && serverUrl(name) === null) return null;
  const place = newPlace(name, "crash-points");
  return {
    open: async (clock) => {
      const store = openStore(place, { clock });
      await deleteThreads(store);
      return store;
    },
    leave: () => leavePlace(place),
  };
};
