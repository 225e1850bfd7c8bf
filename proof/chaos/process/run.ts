import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import type { Entry } from "@colloquy/machine";

import { inFolder } from "../../kit/folder.ts";
import { entriesIn } from "../../kit/journal.ts";
import { databaseIn, type FolderPlace, openStore } from "../../kit/places.ts";
import { childSecondsMax, runChild } from "../../kit/program.ts";
import { type Random, randomOf } from "../../kit/random.ts";
import { wordsOf } from "../../kit/report.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import { converse } from "../points/converse.ts";
import { memoryPlace } from "../points/places.ts";
import { type Fact, readFacts } from "../story/facts.ts";
import { judge, keptProblems, lastOut, type Uncrashed } from "../story/judge.ts";
import { rowOf } from "../story/table.ts";
import { asks, story, storyMachine } from "../story/script.ts";
import { type ChildOptions, leaseLostCode } from "./child.ts";
import type { Fault } from "./faults.ts";

/** The outcome of one conversation that was killed. */
export interface Run extends SeededRun {
  readonly kills: number;
  readonly entries: number;
  readonly acknowledged: number;
  /** The rows of the table that kills fell under, once for each effect. */
  readonly rows: readonly string[];
}

/** At the nth point of a boot's work, by itself, or so many milliseconds after it began, from outside. */
type Kill = { readonly atPoint: number } | { readonly afterMs: number };

/**
 * Holds the story, kills its process as the seed says, and looks at what there is after each kill and at the end. The
 * files of the run are kept when something is wrong that no built-in fault explains.
 */
export const run = (program: string, store: FolderPlace["type"], seed: number, fault: Fault | null): Promise<Run> =>
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
        kills: ended.kills,
        entries: ended.journal.length,
        acknowledged: facts.filter(({ type }) => type === "acknowledged").length,
        rows: lastOut(ended.left).map((effect) => rowOf(effect).name),
      };
    },
    ({ violations }) => violations.length > 0 && fault === null,
  );

/** Up to a bit over a third of the points of the whole story, so that most boots are killed and yet get on. */
const killIn = (random: Random): Kill =>
  random.percent(70) ? { atPoint: random.integer(1, 70) } : { afterMs: random.integer(0, 200) };

/** More than there are kills, by as many as may lose their lease on a busy machine. */
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
    // Asked once more after the end, the same is answered, and nothing is journalled or performed.
    if (isDone) return wrong(boot, found.length === journal.length ? [] : ["asking again journalled more"]);
    journal = found;
    if (end === "done") isDone = true;
    else left.push(journal);
  }
  return wrong(bootsMax, ["it was not done"]);
};

/** Starts a child, and says how it ended. */
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

/** The story as it is when nothing dies. */
const uncrashed = (): Promise<Uncrashed> =>
  (held ??= (async () => {
    const { journal, facts } = await converse({ openStore: memoryPlace.open, diesAt: null, runAgain: true });
    requireSummaries(journal);
    return { journal, answers: facts.filter((fact) => fact.type === "answered"), isOrdered: false };
  })());

/** @throws where the budget lets no summary be written in the background, or none be waited for */
const requireSummaries = (journal: readonly Entry[]): void => {
  const summaries = journal.flatMap((entry) => ("decided" in entry && entry.decided?.summary ? [entry.decided] : []));
  const awaited = summaries.filter(({ compacting }) => compacting !== undefined).length;
  if (awaited === 0 || awaited === summaries.length)
    throw new Error(`${summaries.length} summaries are written, ${awaited} are waited for: mend the budget`);
};
