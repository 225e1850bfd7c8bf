// Hosts for the benchmarks of whole turns: the real host, in memory and on a real SQLite file.
import { createHost, type Host, memoryStore, type Store } from "@colloquy/host";
import type { ConversationMachine } from "@colloquy/machine";
import { randomIds, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instantModel, lookup, lookupMachine } from "./work.ts";

/** Makes a host that asks the instant model. */
export const benchmarkHost = (store: Store, machine: ConversationMachine = lookupMachine()): Host =>
  createHost({ machine, store, llm: instantModel(), tools: [lookup], clock: systemClock, ids: randomIds });

/** Makes a host whose journals are in memory. */
export const inMemory = (machine?: ConversationMachine): Host =>
  benchmarkHost(memoryStore({ clock: systemClock }), machine);

/** Does work on a new SQLite file, which is removed afterwards. */
export const onFile = async <Result>(work: (path: string) => Promise<Result>): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-bench-"));
  try {
    return await work(join(folder, "bench.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Opens the store of the benchmarks, without flushes to the disk, whose speed is the machine's. */
export const fileStore = (path: string): Store => sqliteStore({ path, synchronous: "NORMAL" });
