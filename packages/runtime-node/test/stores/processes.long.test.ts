import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { storeAt } from "./kinds.ts";
import type { WriterOptions, Written } from "./writer.ts";
import { newFolder } from "./folder.ts";

let folder: string;
const processes: ChildProcess[] = [];
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => {
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});

describe.each(["files", "sqlite"])("processes with a store of the kind %s", (kind) => {
  const place = (): string => join(folder, "store");

  test("that open the same new place at the same moment write one journal together, and lose nothing", async () => {
    const writers = await Promise.all([startWriter(), startWriter(), startWriter(), startWriter()]);
    for (const writer of writers) writer.begin({ kind, place: place(), ttlMs: 20, appendsMax: 3 });
    for (let turns = 0; turns < 10; turns += 1) await Promise.all(writers.map((writer) => writer.said("holding")));
    await expectOneJournal(kind, place(), await Promise.all(writers.map((writer) => writer.end())));
  });
});

// Not SQLite: a process that is paused within a transaction keeps the file's lock, so the others fail as `locked`.
test("processes that were paused past their lease append nothing more under it to files", async () => {
  const place = join(folder, "store");
  const [paused, other] = await Promise.all([startWriter(), startWriter()]);
  for (const writer of [paused, other]) writer.begin({ kind: "files", place, ttlMs: 30, appendsMax: 100 });
  let lost = 0;
  while (lost < 5) {
    await paused.said("holding");
    paused.signal("SIGSTOP");
    // If it was stopped while it had the lock, nobody can take the lease, and this round proves nothing.
    const taken = await Promise.race([other.said("holding").then(() => true), delay(1000, false)]);
    const toldOfLoss = taken ? paused.said("lost") : null;
    paused.signal("SIGCONT");
    if (toldOfLoss === null) continue;
    lost += await Promise.race([toldOfLoss.then(() => 1), paused.said("holding").then(() => 0)]);
  }
  await expectOneJournal("files", place, [await paused.end(), await other.end()]);
});

/**
 * Checks that the journal has exactly the acknowledged entries: each once, under its writer's token, in the order of
 * the tokens.
 */
const expectOneJournal = async (
  kind: string,
  place: string,
  written: readonly (readonly Written[])[],
): Promise<void> => {
  const store = storeAt(kind, place);
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
  /** Resolves when the process next sends this. Rejects when it dies. */
  said(words: "ready" | "holding" | "lost"): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Tells the process to stop, and resolves with its written entries. */
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
      // Cast: a writer sends one list, as its last message.
      const written = message(Array.isArray) as Promise<readonly Written[]>;
      child.send("stop");
      return written;
    },
  };
};

/** A waiter for a message. */
interface Waiting {
  readonly isIt: (words: unknown) => boolean;
  readonly resolve: (words: unknown) => void;
  readonly reject: (error: Error) => void;
}
