// Kills processes that use SQLite or files at full speed, or PostgreSQL or Redis themselves. All acknowledged data must
// remain, nothing may be torn or unknown, and the next users must be able to continue.
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, statSync, truncateSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";

import { eventually } from "../../kit/calls.ts";
import { inFolder } from "../../kit/folder.ts";
import { flag } from "../../kit/options.ts";
import { databaseIn, type FolderPlace, openStore, type ServerPlace } from "../../kit/places.ts";
import { childSecondsMax, runChild, withProgram } from "../../kit/program.ts";
import { type Random, randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun, wordsOf } from "../../kit/report.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { startPostgres } from "../../servers/postgres.ts";
import { freePort, type Server } from "../../servers/process.ts";
import { startRedis } from "../../servers/redis.ts";
import { Book, type Note } from "../store/book.ts";
import { entryProblems, problemsIn } from "../store/check.ts";
import { threadIds } from "../store/contents.ts";
import { lateFaults } from "../store/faults.ts";
import { AtWork, User } from "../store/user.ts";
import type { ChildOptions } from "./child.ts";

export const killDatabases = (
  { store, runs, seed, fault }: Choice<(typeof stores)[number], keyof typeof faults>,
  onlyAppends = false,
): Promise<readonly SeededRun[]> => {
  if (store === "postgres" || store === "redis") {
    const own = isOf(serverFaults, fault) ? fault : null;
    return runSeeds(runs, seed, (each) => killServers(store, each, own));
  }
  const own = isOf(lateFaults, fault) ? fault : null;
  return withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(
      runs,
      seed,
      (each) => killWriters(program, store, each, { onlyAppends, fault: own }),
      availableParallelism(),
    ),
  );
};

const isOf = <Fault extends string>(some: Readonly<Record<Fault, string>>, fault: string | null): fault is Fault =>
  fault !== null && Object.hasOwn(some, fault);

/**
 * Kills processes that use one store, each at a moment from the seed, and checks the store after each. Keeps the run's
 * files if there is a violation without a built-in fault.
 */
const killWriters = (
  program: string,
  type: FolderPlace["type"],
  seed: number,
  { onlyAppends, fault }: Pick<ChildOptions, "onlyAppends" | "fault">,
): Promise<SeededRun> =>
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
      return { seed, ...note, violations, counts: { kills, "acknowledged writes": book.acknowledged } };
    },
    { isKept: ({ violations }) => violations.length > 0 && fault === null },
  );

/** Starts a writer, kills it after its first note, and books its notes. Returns a text if it ended by itself. */
const killed = async (program: string, options: ChildOptions, book: Book, random: Random): Promise<string | null> => {
  const { code, signal, stdout, stderr } = await runChild(program, options, random.integer(0, killAfterMsMax));
  if (signal !== "SIGKILL") return `the writer ended with ${signal ?? code}: ${stderr}`;
  if (stdout === "") return `the writer did nothing in ${childSecondsMax} s: ${stderr}`;
  // A torn last line counts as not reported. Only the child writes to this stream.
  for (const line of stdout.split("\n").slice(0, -1)) book.note(JSON.parse(line) as Note);
  return null;
};

const killAfterMsMax = 250;

/** Checks the store, and uses it: the dead process's leases must expire, and new appends must continue the journals. */
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
      while (!(await user.visit(threadId)) && ++tries < 200) await pause(10);
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

/** Returns the damage that SQLite's own check finds; files have no such check. */
const damageIn = (place: FolderPlace): readonly string[] => {
  if (place.type !== "sqlite") return [];
  const database = new DatabaseSync(databaseIn(place));
  const found = database.prepare("PRAGMA integrity_check").all();
  database.close();
  return found.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
};

const serverFaults = {
  "asynchronous-commit": "PostgreSQL acknowledges what it has not written yet",
  everysec: "Redis flushes each second, and the power fails: later writes are lost",
  dumps: "Redis keeps no append-only file",
} as const;

type Fault = keyof typeof serverFaults;

const killsPerRun = 4;

/** Kills a server while users append to it, starts it again, and checks its data; the same users continue. */
const killServers = (type: ServerPlace["type"], seed: number, fault: Fault | null): Promise<SeededRun> =>
  inFolder("chaos-database", async (folder) => {
    // The server may run as another user when this is root.
    chmodSync(folder, 0o755);
    const port = await freePort();
    let running = await started(type, folder, port, fault);
    const place = { type, url: running.url, space: "chaos" } as const;
    const stores = Array.from({ length: 4 }, () => openStore(place));
    const [reader, ...used] = stores;
    const book = new Book();
    const violations: string[] = [];
    const random = randomOf(seed);
    // Each user has its own store, its own thread and a thread that all share.
    const users = used.map(
      (store, index) =>
        new AtWork({
          store,
          owner: `user-${index}`,
          threadIds: ["shared", `alone ${index}`],
          random: randomOf(seed * 10 + index),
          note: (note) => book.note(note),
          onlyAppends: true,
          lengthMax: 10_000,
          leasesMs: [2_000],
          nextNumber: () => 0,
        }),
    );
    const threadIds = ["shared", ...users.map((_, index) => `alone ${index}`)];
    const acknowledged = async (count: number): Promise<void> => {
      const wanted = book.acknowledged + count;
      while (book.acknowledged < wanted && users.every((user) => user.violations.length === 0)) await pause(2);
    };
    let kills = 0;
    try {
      for (; kills < killsPerRun && violations.length === 0; kills += 1) {
        await acknowledged(random.integer(5, 200));
        const flushed = fault === "everysec" ? sizesIn(folder) : [];
        if (fault === "everysec") await acknowledged(20);
        await kill(running.pid);
        for (const { path, bytes } of flushed) truncateSync(path, bytes);
        running = await started(type, folder, port, fault);
        // The reader's connection is broken, which its first call may have to discover.
        if (reader !== undefined) violations.push(...(await eventually(() => entryProblems(reader, book, threadIds))));
      }
      // The users continue, each with its store. After a violation they may fail in other ways.
      if (violations.length === 0) await acknowledged(20);
    } catch (error) {
      violations.push(wordsOf(error));
    } finally {
      await Promise.all(users.map((user) => user.stop()));
      await Promise.all(stores.map((store) => store.close()));
      await running.stop();
    }
    const failures = users.reduce((sum, user) => sum + user.failures, 0);
    violations.push(...users.flatMap((user) => user.violations));
    const counts = { kills, "acknowledged writes": book.acknowledged, "calls that failed meanwhile": failures };
    return { seed, violations, counts };
  });

const started = (type: ServerPlace["type"], folder: string, port: number, fault: Fault | null): Promise<Server> => {
  if (type === "redis") {
    // The docs require this.
    const settings =
      fault === "dumps"
        ? { appendonly: "no" }
        : { appendonly: "yes", appendfsync: fault === "everysec" ? "everysec" : "always" };
    return startRedis({ folder, port, settings });
  }
  // The machine stays on, so data that the server gave to the operating system survives without fsync.
  const asynchronous = fault === "asynchronous-commit" ? { synchronous_commit: "off" } : {};
  return startPostgres({ folder, port, settings: { fsync: "off", ...asynchronous } });
};

/** Returns the sizes of the files that Redis appends to. Version 7 has several, and only the newest grows. */
const sizesIn = (folder: string): readonly { readonly path: string; readonly bytes: number }[] =>
  globSync(join(folder, "data/**/*.aof")).map((path) => ({ path, bytes: statSync(path).size }));

/** Kills a server and its children with SIGKILL, the parent first, and waits until all have ended. */
const kill = async (pid: number): Promise<void> => {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  const all = [pid, ...stdout.split(/\s+/).filter(Boolean).map(Number)];
  for (const each of all) signalled(each, "SIGKILL");
  while (all.some((each) => signalled(each, 0))) await pause(5);
};

/** Sends a signal. Returns false if the process no longer exists. */
const signalled = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};

const stores = ["sqlite", "files", "postgres", "redis"] as const;
const faults = { ...lateFaults, ...serverFaults };

export const command = commandOf({
  name: "database",
  stores,
  ownServers: true,
  faults,
  runs: [20, "the number of stores; the writers of each are killed one to four times"],
  options: { appends: flag("write only entries; else snapshots, inbox items and rewritten entries as well") },
  run: (choice, { appends }) => killDatabases(choice, appends),
});
