// A process that writes to a store until it is killed, or looks at what a killed one left. Started by `run.ts`.
import { readFileSync } from "node:fs";

import { openStore } from "../kit/places.ts";
import { randomOf } from "../kit/random.ts";
import { check } from "./checker.ts";
import { type Fault, faultyStore } from "./faults.ts";
import { notesIn } from "./notes.ts";
import { damageIn, type StoreKind } from "./stores.ts";
import { write } from "./writer.ts";

/** The options of a child, as JSON in its first argument. */
export interface ChildOptions {
  readonly task: "write" | "check";
  readonly store: StoreKind;
  /** Where the store is. */
  readonly folder: string;
  readonly synchronous: "NORMAL" | "FULL";
  readonly writing: "appends" | "all";
  readonly seed: number;
  readonly boot: number;
  /** A file with all notes so far. */
  readonly notes: string;
  readonly fault: Fault | null;
}

const main = async (options: ChildOptions): Promise<void> => {
  const { task, folder, synchronous, writing, seed, boot, fault } = options;
  const place = { type: options.store, folder };
  const store = openStore(place, { synchronous });
  if (task === "write") await write(faultyStore(store, fault), boot, randomOf(seed), writing);
  const findings = await check(store, notesIn(readFileSync(options.notes, "utf8")));
  await store.close();
  const violations = [...findings.violations, ...damageIn(place)];
  process.stdout.write(JSON.stringify({ ...findings, violations }));
};

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? "") as ChildOptions);
