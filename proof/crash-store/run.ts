import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { type Random, randomOf } from "../crash/random.ts";
import type { Findings } from "./checker.ts";
import type { ChildOptions } from "./child.ts";
import type { Fault } from "./faults.ts";
import { type Note, notesIn } from "./notes.ts";
import type { StoreKind } from "./store-kinds.ts";

/** What to kill, and how. */
export interface Target {
  readonly store: StoreKind;
  readonly writing: "appends" | "all";
  readonly fault: Fault | null;
}

/** What came of one store whose writer was killed, once or more. */
export interface Run {
  readonly seed: number;
  /** Where the store and the notes are, or were. */
  readonly folder: string;
  /** Empty when all is as it should be. */
  readonly violations: readonly string[];
  readonly kills: number;
  /** How many of each kind were noted by writers that were killed. */
  readonly noted: Readonly<Partial<Record<Note["type"], number>>>;
  /** In the store after the last kill. */
  readonly entries: number;
}

/**
 * Kills writers of one store, each at a moment that follows from the seed, and has a fresh process look at the store
 * after each. What it works on stays where it is when something is wrong and nobody built a fault in.
 */
export const run = async (program: string, seed: number, target: Target): Promise<Run> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-crash-store-"));
  const notes = join(folder, "notes.jsonl");
  const storeFolder = join(folder, "store");
  mkdirSync(storeFolder);
  writeFileSync(notes, "");
  const random = randomOf(seed);
  const synchronous = random.percent(50) ? "NORMAL" : "FULL";
  const killsPlanned = random.integer(1, 3);
  let done: Run = { seed, folder, violations: [], kills: 0, noted: {}, entries: 0 };
  while (done.kills < killsPlanned && done.violations.length === 0) {
    const boot = done.kills;
    const options = { ...target, folder: storeFolder, synchronous, seed: seed * 10 + boot, boot, notes } as const;
    const said = await killed(program, { ...options, task: "write" }, random);
    const told = typeof said === "string" ? [] : said;
    appendFileSync(notes, linesOf(told));
    const findings = typeof said === "string" ? failed(said) : await checked(program, { ...options, task: "check" });
    appendFileSync(notes, linesOf(findings.notes));
    const violations = findings.violations.map((violation) => `after kill ${boot + 1} (${synchronous}): ${violation}`);
    done = { ...done, violations, kills: boot + 1, noted: counted(done.noted, told), entries: findings.entries };
  }
  if (done.violations.length === 0 || target.fault !== null) rmSync(folder, { recursive: true, force: true });
  return done;
};

/** Starts a writer, and kills it some time after its first note. What it noted; a text when it died of itself. */
const killed = async (program: string, options: ChildOptions, random: Random): Promise<readonly Note[] | string> => {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  const afterMs = random.integer(0, killAfterMsMax);
  const watchdog = setTimeout(() => child.kill("SIGKILL"), startSecondsMax * 1000);
  child.stdout.once("data", () => void setTimeout(() => child.kill("SIGKILL"), afterMs));
  // The types of `once` can't tell what an event carries.
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const [said, problem, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  clearTimeout(watchdog);
  if (signal !== "SIGKILL") return `the writer ended with ${signal ?? code}: ${problem.trim()}`;
  return said === "" ? `the writer wrote nothing in ${startSecondsMax} s: ${problem.trim()}` : notesIn(said);
};

const killAfterMsMax = 250;
const startSecondsMax = 30;

const checked = async (program: string, options: ChildOptions): Promise<Findings> => {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  const watchdog = setTimeout(() => child.kill("SIGKILL"), startSecondsMax * 1000);
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const [found, problem, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  clearTimeout(watchdog);
  if (code !== 0) return failed(`the checker ended with ${signal ?? code}: ${problem.trim()}`);
  return JSON.parse(found) as Findings;
};

const failed = (violation: string): Findings => ({ violations: [violation], entries: 0, notes: [] });

const linesOf = (notes: readonly Note[]): string => notes.map((note) => `${JSON.stringify(note)}\n`).join("");

const counted = (before: Run["noted"], notes: readonly Note[]): Run["noted"] => {
  const counts: Partial<Record<Note["type"], number>> = { ...before };
  for (const { type } of notes) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
};
