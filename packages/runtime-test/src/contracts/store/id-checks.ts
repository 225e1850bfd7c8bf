import type { Store } from "@colloquy/host";
import * as fc from "fast-check";
import { expect } from "vitest";

import { append, atMost, entryOf, take } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

/** Checks that only its id identifies a thread. */
export const idChecks: StoreChecks = {
  "takes ids that mean something to a file system, a shell, a query or a format": async ({ store }) => {
    const ids = [
      "../../etc/passwd",
      "a/b\\c",
      ".",
      "..",
      "C:",
      "a'b\"c`d",
      "'; DROP TABLE entries; --",
      "%_*?",
      "a b\tc",
    ];
    const more = ["Ünïcödé", "e\u0301", "\u00e9", "🙂", "null", "__proto__", "-1", "1", "01", " 1", "a".repeat(1000)];
    await areKeptApart(store, [...ids, ...more]);
    expect((await store.list()).threads).toHaveLength(ids.length + more.length);
  },
  "takes any id, or refuses it in words, and never takes one for another": async ({ fresh }) => {
    const id = fc
      .array(fc.constantFrom("a", "\0", "\ud83d", "\ude42", "\ufffd", "é", "\uffff", "/"), { maxLength: 4 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(id, { maxLength: 8 }), async (threadIds) => {
        const { store } = await fresh();
        await areKeptApart(store, threadIds);
        await store.close();
      }),
      { numRuns: atMost(50) },
    );
  },
};

const areKeptApart = async (store: Store, threadIds: readonly string[]): Promise<void> => {
  const taken: string[] = [];
  for (const threadId of threadIds) {
    try {
      const lease = await take(store, threadId);
      await append(store, lease, -1, [entryOf(0, { threadId })]);
      taken.push(threadId);
    } catch (error) {
      // Only ids that few stores can hold may be refused.
      expect(
        threadId.includes("\0") || threadId === "" || !threadId.isWellFormed(),
        `refused ${JSON.stringify(threadId)}`,
      ).toBe(true);
      expect(error).toMatchObject({ name: "StorageError", kind: "invalid-id" });
    }
  }
  for (const threadId of taken) expect(await store.read(threadId)).toEqual([entryOf(0, { threadId })]);
  const listed = (await store.list()).threads.map(({ threadId }) => threadId);
  expect(new Set(listed)).toEqual(new Set(taken));
  expect(listed.length).toBe(taken.length);
};
