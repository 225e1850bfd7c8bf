import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";
import { newFolder } from "../folder.ts";
import { said, take } from "../journal.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = newFolder();
  store = filesStore({ folder, synchronous: "NORMAL" });
});
afterEach(async () => {
  await store.close();
});

test.each(["thread", "x".repeat(400)])(
  "no file keeps the words of a deleted thread, or its name: %s",
  async (threadId) => {
    await say(threadId);
    await say("other");
    expect(rawFiles().filter((text) => text.includes("secret")).length).toBeGreaterThan(2);
    const before = readdirSync(folder).length;
    await store.delete(threadId);
    // The journal of the other thread, and the file beside the journals.
    expect(rawFiles().filter((text) => text.includes("secret"))).toHaveLength(2);
    expect(rawFiles().join("\n")).not.toContain(`secret of ${threadId}`);
    expect(rawFiles().join("\n")).toContain("secret of other");
    expect(readdirSync(folder).some((name) => name.startsWith(`${threadId}.`.slice(0, 7)))).toBe(false);
    expect(readdirSync(folder).length).toBe(before - (threadId === "thread" ? 1 : 2));
  },
);

test("no file keeps the words that were rewritten, and the rest stays to the letter", async () => {
  const lease = await say("thread", 1);
  const before = readFileSync(join(folder, "thread.jsonl"), "utf8").split("\n");
  await store.inbox?.answer(lease, [{ id: "letter", handled: true, seq: 1 }]);
  await store.rewrite(lease, [{ ...said(1, "[redacted]"), redacted: true }]);
  expect(rawFiles().join("\n")).not.toContain("secret");
  const after = readFileSync(join(folder, "thread.jsonl"), "utf8").split("\n");
  expect(after.toSpliced(1, 1)).toEqual(before.toSpliced(1, 1));
  expect(await store.readSnapshot("thread")).toBeNull();
});

test("no file keeps the words of an inbox item after its thread, which had no entry yet, is deleted", async () => {
  const event = { type: "ask.received", at: 1, askId: "letter", input: "secret" } as const;
  await store.inbox?.post("thread", { id: "letter", event });
  expect(rawFiles().join("\n")).toContain("secret");
  await store.delete("thread");
  expect(rawFiles().join("\n")).not.toContain("secret");
});

/** Writes words into every kind of file; in the journal only into entry `only`, if given. */
const say = async (threadId: string, only?: number): Promise<Lease> => {
  const lease = await take(store, threadId);
  const entries = [0, 1, 2].map((seq) => said(seq, only === undefined || only === seq ? "secret" : "words"));
  await store.append(lease, -1, entries);
  const secret = `the secret of ${threadId}`;
  const chunks = new Map([["1-2", secret.repeat(2000)]]);
  await store.saveSnapshot(lease, { threadId, seq: 2, head: secret, chunks, dropped: [] });
  await store.parts?.append(lease, { number: 0, turn: 1, body: secret, at: 0, until: 60_000 });
  const event = { type: "ask.received", at: 1, askId: "letter", input: secret } as const;
  await store.inbox?.post(threadId, { id: "letter", event });
  return lease;
};

const rawFiles = (): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
