// Kills a process that holds the story with SIGKILL, at points of its work and at any moment, and starts it again until
// the story is done.
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import type { Entry } from "@colloquy/machine";

import { inFolder } from "../../kit/folder.ts";
import { entriesIn } from "../../kit/journal.ts";
import { databaseIn, type FolderPlace, openStore } from "../../kit/places.ts";
import { childSecondsMax, runChild, withProgram } from "../../kit/program.ts";
import { type Random, randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun, timesOf, wordsOf } from "../../kit/report.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { converse } from "../points/converse.ts";
import { memoryPlace } from "../points/target.ts";
import { type Fact, readFacts } from "../story/facts.ts";
import { judge, keptProblems, lastOut, type Uncrashed } from "../story/judge.ts";
import { asks, story, storyMachine } from "../story/script.ts";
import { rowOf } from "../story/table.ts";
import { type ChildOptions, leaseLostCode } from "./child.ts";
import { type Fault, faults } from "./faults.ts";

const stores = ["sqlite", "files"] as const;

export const killProcesses = ({
  store,
  runs,
  seed,
  fault,
}: Choice<(typeof stores)[number], Fault>): Promise<readonly SeededRun[]> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(runs, seed, (each) => run(program, store, each, fault), availableParallelism()),
  );

/** By itself at the nth point of a boot's work, or from outside some milliseconds after its start. */
type Kill = { readonly atPoint: number } | { readonly afterMs: number };

/**
 * Holds the story, kills its process by the seed, and checks the data after each kill and at the end. Keeps the run's
 * files if there is a violation without a built-in fault.
 */
const run = (program: string, store: FolderPlace["type"], seed: number, fault: Fault | null): Promise<SeededRun> =>
  inFolder(
    "chaos-process",
    async (folder) => {
      mkdirSync(join(folder, "store"));
      const random = randomOf(seed);
      const kills = Array.from({ length: random.integer(1, 5) }, () => killIn(random));
      const options = {
        place: { type: store, folder: join(folder, "store") },
        synchronous: random.percent(50) ? "NORMAL" : "FULL",
        facts: join(folder, "facts.jsonl"),
        runAgain: random.percent(50),
        fault,
      } as const;
      const ended = await bootUntilDone(program, options, kills, folder);
      const facts = readFacts(options.facts);
      return {
        seed,
        ...(fault === null && { note: `  Its files are in ${folder}` }),
        violations: ended.violations.length > 0 ? ended.violations : await problemsOf(ended, facts),
        counts: {
          kills: ended.kills,
          "acknowledged entries": facts.filter(({ type }) => type === "acknowledged").length,
          "entries in the journals": ended.journal.length,
          ...timesOf(lastOut(ended.left).map((effect) => `outstanding at a kill: ${rowOf(effect).name}`)),
        },
      };
    },
    { isKept: ({ violations }) => violations.length > 0 && fault === null },
  );

/** Up to just over a third of the story's points, so that most boots are killed and still make progress. */
const killIn = (random: Random): Kill =>
  random.percent(70) ? { atPoint: random.integer(1, 70) } : { afterMs: random.integer(0, 200) };

/** More than the kills, by the number of boots that may lose their lease on a busy machine. */
const bootsMax = 20;

interface Ended {
  readonly violations: readonly string[];
  readonly kills: number;
  readonly journal: readonly Entry[];
  readonly left: readonly (readonly Entry[])[];
}

const bootUntilDone = async (
  program: string,
  options: Omit<ChildOptions, "diesAt">,
  kills: readonly Kill[],
  folder: string,
): Promise<Ended> => {
  const left: (readonly Entry[])[] = [];
  let killed = 0;
  let isDone = false;
  let journal: readonly Entry[] = [];
  const wrong = (boot: number, violations: readonly string[]): Ended => ({
    violations: violations.map((violation) => `boot ${boot}: ${violation}`),
    kills: killed,
    journal,
    left,
  });
  for (let boot = 0; boot < bootsMax; boot += 1) {
    const end = await booted(program, options, isDone ? null : (kills[boot] ?? null));
    killed += end === "killed" ? 1 : 0;
    if (end !== "done" && end !== "killed" && end !== "lease lost") return wrong(boot, [end]);
    const found = await journalIn(options.place, join(folder, `copy ${boot}`));
    if (typeof found === "string") return wrong(boot, [found]);
    const problems = keptProblems(found, { facts: readFacts(options.facts), left: [journal, ...left] });
    if (problems.length > 0) return wrong(boot, problems);
    // Asked again after the end, it must answer the same, and neither journal nor perform anything.
    if (isDone) return wrong(boot, found.length === journal.length ? [] : ["asking again journalled more"]);
    journal = found;
    if (end === "done") isDone = true;
    else left.push(journal);
  }
  return wrong(bootsMax, ["it was not done"]);
};

const booted = async (
  program: string,
  options: Omit<ChildOptions, "diesAt">,
  kill: Kill | null,
): Promise<"done" | "killed" | "lease lost" | (string & {})> => {
  const diesAt = kill !== null && "atPoint" in kill ? kill.atPoint : null;
  const afterMs = kill !== null && "afterMs" in kill ? kill.afterMs : null;
  const end = await runChild(program, { ...options, diesAt } satisfies ChildOptions, afterMs);
  const { code, signal, hung, stderr } = end;
  if (hung) return `it was not done after ${childSecondsMax} s`;
  if (code === 0) return "done";
  if (code === leaseLostCode) return "lease lost";
  return signal === "SIGKILL" && kill !== null ? "killed" : `it ended with ${signal ?? code}: ${stderr}`;
};

/** Reads the journal from a copy of the store, so that the next boot finds the files as the kill left them. */
const journalIn = async (place: FolderPlace, copy: string): Promise<readonly Entry[] | string> => {
  cpSync(place.folder, copy, { recursive: true });
  const copied = { ...place, folder: copy };
  if (place.type === "sqlite" && !existsSync(databaseIn(copied))) return [];
  try {
    const store = openStore(copied);
    const stored = await store.read(story.threadId);
    await store.close();
    return entriesIn(stored);
  } catch (error) {
    return `it can't be read: ${wordsOf(error)}`;
  }
};

const problemsOf = async ({ journal, left }: Ended, facts: readonly Fact[]): Promise<readonly string[]> =>
  judge({ journal, left, facts, asked: asks, machine: storyMachine(), uncrashed: await uncrashed() });

let held: Promise<Uncrashed> | undefined;

const uncrashed = (): Promise<Uncrashed> =>
  (held ??= (async () => {
    const { journal, facts } = await converse({ openStore: memoryPlace.open, diesAt: null, runAgain: true });
    requireSummaries(journal);
    return { journal, answers: facts.filter((fact) => fact.type === "answered"), isOrdered: false };
  })());

/** @throws if no summary is written in the background, or none is waited for, because of the budget */
const requireSummaries = (journal: readonly Entry[]): void => {
  const summaries = journal.flatMap((entry) => ("decided" in entry && entry.decided?.summary ? [entry.decided] : []));
  const awaited = summaries.filter(({ compacting }) => compacting !== undefined).length;
  if (awaited === 0 || awaited === summaries.length)
    throw new Error(`${summaries.length} summaries are written, ${awaited} are waited for: change the budget`);
};

export const command = commandOf({
  name: "process",
  stores,
  faults,
  runs: [200, "the number of conversations to kill"],
  run: (choice) => killProcesses(choice),
});
