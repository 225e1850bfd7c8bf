// The exports that tests use in a page or a worker.
import type { Lease } from "@colloquy/host/store";
import * as colloquy from "../../src/index.ts";
import { entry } from "../entries.ts";

/** Opens a store, takes the thread "t" there and writes two entries. */
const begin = async (ttlMs = 600_000): Promise<void> => {
  const store = colloquy.indexedDbStore({ name: "d" });
  const lease = await store.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is not free");
  await store.append(lease, -1, [entry(0), entry(1)]);
  Object.assign(globalThis, { store, lease });
};

/** Counts the locks that tabs hold. */
const locksHeld = async (): Promise<number> => ((await navigator.locks.query()).held ?? []).length;

Object.assign(globalThis, { colloquy, entry, begin, locksHeld });

declare global {
  var colloquy: typeof import("../../src/index.ts");
  var entry: typeof import("../entries.ts").entry;
  var begin: (ttlMs?: number) => Promise<void>;
  var locksHeld: () => Promise<number>;
  /** The values that `begin` sets. */
  var store: colloquy.IndexedDbStore;
  var lease: Lease;
}
