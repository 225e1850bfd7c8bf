import "fake-indexeddb/auto";

import { expect, test } from "vitest";

import { indexedDbStore } from "../src/index.ts";

const ttlMs = 600_000;

test("names the threads of a closed tab at once, and those of a live tab when their leases run out", async () => {
  const open = () => indexedDbStore({ name: "abandoned", locks: navigator.locks });
  const [closed, live] = [open(), open()];
  for (const threadId of ["a", "b"]) expect(await closed.acquire(threadId, "closed", ttlMs)).not.toBeNull();
  expect(await live.acquire("held", "live", ttlMs)).not.toBeNull();
  expect(await live.acquire("ran out", "live", 0)).not.toBeNull();
  expect(await live.abandoned()).toEqual(["ran out"]);
  await closed.close();
  // The platform releases the lock a moment later.
  await expect.poll(() => live.abandoned()).toEqual(["a", "b", "ran out"]);
});
