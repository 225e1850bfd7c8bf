import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { inFolder } from "../kit/folder.ts";
import { childSecondsMax, runChild } from "../kit/program.ts";
import { type Random, randomOf } from "../kit/random.ts";
import type { SeededRun } from "../kit/seeded-runs.ts";
import type { Findings } from "./checker.ts";
import type { ChildOptions } from "./child.ts";
import type { Fault } from "./faults.ts";
import { type Note, notesIn } from "./notes.ts";
import type { StoreKind } from "./stores.ts";

/** The store to kill, and the way. */
export interface Target {
  readonly store: StoreKind;
  readonly writing: "appends" | "all";
  readonly fault: Fault | null;
}

/** The outcome of one store whose writer was killed, once or more. */
export interface Run extends SeededRun {
  readonly kills: number;
  /** How many of each kind were noted by writers that were killed. */
  readonly noted: Readonly<Partial<Record<Note["type"], number>>>;
  /** In the store after the last kill. */
  readonly entries: number;
}

/**
 * Kills writers of one store, each at a moment that follows from the seed, and has a fresh process look at the store
 * after each. The files of the run are kept when something is wrong that no built-in fault explains.
 */
export const run = (program: string, seed: number, target: Target): Promise<Run> =>
  inFolder(
    "crash-store",
    (folder) => runIn(folder, program, seed, target),
    ({ violations }) => violations.length > 0 && target.fault === null,
  );

const runIn = async (folder: string, program: string, seed: number, target: Target): Promise<Run> => {
  const notes = join(folder, "notes.jsonl");
  const storeFolder = join(folder, "store");
  mkdirSync(storeFolder);
  writeFileSync(notes, "");
  const random = randomOf(seed);
  const synchronous = random.percent(50) ? "NORMAL" : "FULL";
  const killsPlanned = random.integer(1, 3);
  const note = target.fault === null ? { note: `  Its files are in ${folder}` } : {};
  let done: Run = { seed, ...note, violations: [], kills: 0, noted: {}, entries: 0 };
  while (done.kills < killsPlanned && done.violations.length === 0) {
    const boot = done.kills;
    const options = { ...target, folder: storeFolder, synchronous, seed: seed * 10 + boot, boot, notes } as const;
    const said = await killed(program, { ...options, task: "write" }, random);
    const written = typeof said === "string" ? [] : said;
    appendFileSync(notes, linesOf(written));
    const findings = typeof said === "string" ? failed(said) : await checked(program, { ...options, task: "check" });
    appendFileSync(notes, linesOf(findings.notes));
    const violations = findings.violations.map((violation) => `after kill ${boot + 1} (${synchronous}): ${violation}`);
    done = { ...done, violations, kills: boot + 1, noted: counted(done.noted, written), entries: findings.entries };
  }
  return done;
};

/** Starts a writer, and kills it some time after its first note. Returns its notes, or a text if it ended by itself. */
const killed = async (program: string, options: ChildOptions, random: Random): Promise<readonly Note[] | string> => {
  const { code, signal, stdout, stderr } = await runChild(program, options, random.integer(0, killAfterMsMax));
  if (signal !== "SIGKILL") return `the writer ended with ${signal ?? code}: ${stderr}`;
  return stdout === "" ? `the writer wrote nothing in ${childSecondsMax} s: ${stderr}` : notesIn(stdout);
};

const killAfterMsMax = 250;

const checked = async (program: string, options: ChildOptions): Promise<Findings> => {
  const { code, signal, stdout, stderr } = await runChild(program, options, null);
  if (code !== 0) return failed(`the checker ended with ${signal ?? code}: ${stderr}`);
  // Our own checker wrote it.
  return JSON.parse(stdout) as Findings;
};

const failed = (violation: string): Findings => ({ violations: [violation], entries: 0, notes: [] });

const linesOf = (notes: readonly Note[]): string => notes.map((note) => `${JSON.stringify(note)}\n`).join("");

const counted = (before: Run["noted"], notes: readonly Note[]): Run["noted"] => {
  const counts: Partial<Record<Note["type"], number>> = { ...before };
  for (const { type } of notes) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
};
