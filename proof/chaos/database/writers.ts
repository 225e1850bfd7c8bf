import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";

import { inFolder } from "../../kit/folder.ts";
import { databaseIn, type FolderPlace, openStore } from "../../kit/places.ts";
import { childSecondsMax, runChild } from "../../kit/program.ts";
import { type Random, randomOf } from "../../kit/random.ts";
import { wordsOf } from "../../kit/report.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import { Book, type Note } from "../store/book.ts";
import { problemsIn } from "../store/check.ts";
import { threadIds } from "../store/contents.ts";
import { User } from "../store/user.ts";
import type { ChildOptions } from "./child.ts";

/** The outcome of one store. */
export interface Run extends SeededRun {
  readonly kills: number;
  readonly acknowledged: number;
  /** Calls that failed while a server was away. */
  readonly failures: number;
}

/**
 * Kills processes that use one store, each at a moment that follows from the seed, and looks at the store after each.
 * The files of the run are kept when something is wrong that no built-in fault explains.
 */
export const killWriters = (
  program: string,
  type: FolderPlace["type"],
  seed: number,
  { onlyAppends, fault }: Pick<ChildOptions, "onlyAppends" | "fault">,
): Promise<Run> =>
  inFolder(
    "chaos-database",
    async (folder) => {
      const place = { type, folder: join(folder, "store") };
      mkdirSync(place.folder);
      const random = randomOf(seed);
      const synchronous = random.percent(50) ? "NORMAL" : "FULL";
      const book = new Book();
      let kills = 0;
      let violations: readonly string[] = [];
      for (const planned = random.integer(1, 3); kills < planned && violations.length === 0; kills += 1) {
        const options = { place, synchronous, onlyAppends, fault, seed: seed * 10 + kills, boot: kills } as const;
        const ended = await killed(program, options, book, random);
        const found = ended === null ? await problemsLeft(place, book, options) : [ended];
        violations = found.map((violation) => `after kill ${kills + 1} (${synchronous}): ${violation}`);
      }
      const note = fault === null ? { note: `  Its files are in ${folder}` } : {};
      return { seed, ...note, violations, kills, acknowledged: book.acknowledged, failures: 0 };
    },
    ({ violations }) => violations.length > 0 && fault === null,
  );

/** Starts a writer, kills it some time after its first note, and books its notes. Returns a text if it ended by itself. */
const killed = async (program: string, options: ChildOptions, book: Book, random: Random): Promise<string | null> => {
  const { code, signal, stdout, stderr } = await runChild(program, options, random.integer(0, killAfterMsMax));
  if (signal !== "SIGKILL") return `the writer ended with ${signal ?? code}: ${stderr}`;
  if (stdout === "") return `the writer did nothing in ${childSecondsMax} s: ${stderr}`;
  // The last line may be torn: then the thing was not said to have happened. Nobody else writes to this stream.
  for (const line of stdout.split("\n").slice(0, -1)) book.note(JSON.parse(line) as Note);
  return null;
};

const killAfterMsMax = 250;

/** Looks at the store, and uses it: the leases of the dead run out, and the next appends continue the journals. */
const problemsLeft = async (
  place: FolderPlace,
  book: Book,
  { boot, seed, synchronous }: ChildOptions,
): Promise<readonly string[]> => {
  const store = openStore(place, { synchronous });
  const user = new User({
    store,
    owner: `checker ${boot}`,
    threadIds,
    random: randomOf(seed + 1),
    note: (note) => book.note(note),
    onlyAppends: true,
    leasesMs: [10_000],
    nextNumber: () => 0,
  });
  try {
    const problems = [...(await problemsIn(store, book, threadIds))];
    for (const threadId of problems.length === 0 ? threadIds : []) {
      let tries = 0;
      while (!(await user.visit(threadId)) && ++tries < 200) await delay(10);
      if (tries === 200) problems.push(`thread "${threadId.slice(0, 10)}": the lease can't be taken`);
    }
    if (problems.length === 0) problems.push(...(await problemsIn(store, book, threadIds)));
    return [...problems, ...damageIn(place)];
  } catch (error) {
    return [wordsOf(error)];
  } finally {
    await store.close();
  }
};

/** Returns the damage that the file check of SQLite finds; files have no such check. */
const damageIn = (place: FolderPlace): readonly string[] => {
  if (place.type !== "sqlite") return [];
  const database = new DatabaseSync(databaseIn(place));
  const found = database.prepare("PRAGMA integrity_check").all();
  database.close();
  return found.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
};
