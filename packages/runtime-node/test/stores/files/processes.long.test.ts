import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";
import type { WriterOptions, Written } from "./writer.ts";

let folder: string;
const processes: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-processes-"));
});
afterEach(() => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("processes that open the same new folder at the same moment write one journal together, and lose nothing", async () => {
  const writers = await Promise.all([startWriter(), startWriter(), startWriter(), startWriter()]);
  for (const writer of writers) writer.begin({ folder: join(folder, "threads"), ttlMs: 20, appendsMax: 3 });
  for (let turns = 0; turns < 10; turns += 1) await Promise.all(writers.map((writer) => writer.said("holding")));
  await expectOneJournal(join(folder, "threads"), await Promise.all(writers.map((writer) => writer.end())));
});

test("a holder that was paused past its lease appends nothing more under it", async () => {
  const [paused, other] = await Promise.all([startWriter(), startWriter()]);
  for (const writer of [paused, other]) writer.begin({ folder, ttlMs: 30, appendsMax: 100 });
  let lost = 0;
  while (lost < 5) {
    await paused.said("holding");
    paused.signal("SIGSTOP");
    // It may have been stopped under the lock, which nobody can take from it: then this round proves nothing.
    const taken = await Promise.race([other.said("holding").then(() => true), delay(1000, false)]);
    const toldOfLoss = taken ? paused.said("lost") : null;
    paused.signal("SIGCONT");
    if (toldOfLoss === null) continue;
    lost += await Promise.race([toldOfLoss.then(() => 1), paused.said("holding").then(() => 0)]);
  }
  await expectOneJournal(folder, [await paused.end(), await other.end()]);
});

/**
 * Checks that the acknowledged entries are all that is there: each once and under the token of its writer, in the order
 * of the tokens.
 */
const expectOneJournal = async (path: string, written: readonly (readonly Written[])[]): Promise<void> => {
  const store = filesStore({ folder: path });
  const journal = (await store.read("thread")) as readonly StoredShape[];
  await store.close();
  const found = journal.map(({ seq, event }) => ({ seq, token: event.value ?? event.metadata?.token }));
  const acknowledged = written.flat().sort((one, another) => one.seq - another.seq);
  expect(found).toEqual(acknowledged);
  expect(found.map(({ seq }) => seq)).toEqual(found.map((_, index) => index));
  const tokens = acknowledged.map(({ token }) => token);
  expect(tokens).toEqual([...tokens].sort((one, another) => one - another));
  expect(written.filter((each) => each.length > 0).length).toBe(written.length);
};

interface StoredShape {
  readonly seq: number;
  readonly event: { readonly value?: number; readonly metadata?: { readonly token: number } };
}

interface Writer {
  begin(options: WriterOptions): void;
  /** Resolves when it says this the next time. Rejects when it dies. */
  said(words: "ready" | "holding" | "lost"): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Tells it to stop, and resolves with what it wrote. */
  end(): Promise<readonly Written[]>;
}

const startWriter = async (): Promise<Writer> => {
  const child = fork(new URL("writer.ts", import.meta.url));
  processes.push(child);
  const waiting = new Set<Waiting>();
  child.on("message", (words) => {
    for (const each of [...waiting].filter(({ isIt }) => isIt(words))) {
      waiting.delete(each);
      each.resolve(words);
    }
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting) reject(new Error(`a writer ended with ${String(code ?? signal)}`));
  });
  const message = (isIt: Waiting["isIt"]): Promise<unknown> =>
    new Promise((resolve, reject) => waiting.add({ isIt, resolve, reject }));
  const said: Writer["said"] = async (words) => void (await message((each) => each === words));
  await said("ready");
  return {
    begin: (options) => void child.send(options),
    said,
    signal: (signal) => void child.kill(signal),
    end: async () => {
      // A writer sends one list, the last thing that it says.
      const written = message(Array.isArray) as Promise<readonly Written[]>;
      child.send("stop");
      return written;
    },
  };
};

/** Somebody who waits for a message. */
interface Waiting {
  readonly isIt: (words: unknown) => boolean;
  readonly resolve: (words: unknown) => void;
  readonly reject: (error: Error) => void;
}
