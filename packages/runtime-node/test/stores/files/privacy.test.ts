import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-privacy-"));
  store = filesStore({ folder, synchronous: "NORMAL" });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each(["thread", "x".repeat(400)])(
  "no file keeps the words of a deleted thread, or its name: %s",
  async (threadId) => {
    await say(threadId);
    await say("other");
    expect(rawFiles().filter((text) => text.includes("secret")).length).toBeGreaterThan(2);
    const before = readdirSync(folder).length;
    await store.delete(threadId);
    // The journal of the other, and what is beside the journals.
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
  await store.rewrite(lease, [{ ...entryOf(1, "[redacted]"), redacted: true }]);
  expect(rawFiles().join("\n")).not.toContain("secret");
  const after = readFileSync(join(folder, "thread.jsonl"), "utf8").split("\n");
  expect(after.toSpliced(1, 1)).toEqual(before.toSpliced(1, 1));
  expect(await store.readSnapshot("thread")).toBeNull();
});

/** Leaves words in every kind of file; in the journal only in the entry of one seq, where it is named. */
const say = async (threadId: string, only?: number): Promise<Lease> => {
  const lease = await store.acquire(threadId, "owner", 60_000);
  if (lease === null) throw new Error("the lease should have been free");
  const entries = [0, 1, 2].map((seq) => entryOf(seq, only === undefined || only === seq ? "secret" : "words"));
  await store.append(lease, -1, entries);
  const secret = `the secret of ${threadId}`;
  const chunks = new Map([["1-2", secret.repeat(2000)]]);
  await store.saveSnapshot(lease, { threadId, seq: 2, head: secret, chunks, dropped: [] });
  await store.parts?.append(lease, { number: 0, turn: 1, body: secret, at: 0, until: 60_000 });
  const event = { type: "ask.received", at: 1, askId: "letter", input: secret } as const;
  await store.inbox?.post(threadId, { id: "letter", event });
  return lease;
};

const entryOf = (seq: number, name: string): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } }
    : { seq, event: { type: "checkpoint.named", at: seq, name } };

const rawFiles = (): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "latin1"));
