// Hosts for the benchmarks of whole turns: the real host, in memory and on a real SQLite file.
import { createHost, type Host, type HostOptions, memoryStore, type Store } from "@colloquy/host";
import { randomIds, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inFolder } from "../../proof/kit/folder.ts";
import { instantModel, lookup, lookupMachine } from "./work.ts";

/** Makes a host that asks the instant model, with journals in memory, unless the options say otherwise. */
export const benchmarkHost = (options: Partial<HostOptions> = {}): Host =>
  createHost({
    machine: lookupMachine(),
    store: memoryStore({ clock: systemClock }),
    llm: instantModel(),
    tools: [lookup],
    clock: systemClock,
    ids: randomIds,
    ...options,
  });

/** Does work on a new SQLite file, which is removed afterwards. */
export const onFile = <Result>(work: (path: string) => Promise<Result>): Promise<Result> =>
  inFolder("bench", (folder) => work(join(folder, "bench.db")));

/** Returns the size of a SQLite file after its log is copied into it. */
export const fileBytes = (path: string): number => {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return statSync(path).size;
};

/** Opens the store of the benchmarks, without flushes to the disk, whose speed is the machine's. */
export const fileStore = (path: string): Store => sqliteStore({ path, synchronous: "NORMAL" });
