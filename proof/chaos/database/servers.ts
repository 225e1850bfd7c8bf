import { spawnSync } from "node:child_process";
import { chmodSync, globSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { eventually } from "../../kit/calls.ts";
import { inFolder } from "../../kit/folder.ts";
import { openStore, type ServerPlace } from "../../kit/places.ts";
import { randomOf } from "../../kit/random.ts";
import { wordsOf } from "../../kit/report.ts";
import { startPostgres } from "../../servers/postgres.ts";
import { freePort, type Server } from "../../servers/process.ts";
import { startRedis } from "../../servers/redis.ts";
import { AtWork } from "../store/at-work.ts";
import { Book } from "../store/book.ts";
import { entryProblems } from "../store/check.ts";
import type { Run } from "./writers.ts";

export const serverFaults = {
  "asynchronous-commit": "PostgreSQL acknowledges what it has not written yet",
  everysec: "Redis flushes each second, and the power fails: what it wrote since is gone",
  dumps: "Redis keeps no append-only file",
} as const;

type Fault = keyof typeof serverFaults;

const killsPerRun = 4;

/** Kills a server while users append to it, starts it again, and looks at what is there; the same users continue. */
export const killServers = (type: ServerPlace["type"], seed: number, fault: Fault | null): Promise<Run> =>
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
    // Each has a store of its own, and uses a thread of its own and one that all share.
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
        // The reader's connection is broken, which its first call may have to find out.
        if (reader !== undefined) violations.push(...(await eventually(() => entryProblems(reader, book, threadIds))));
      }
      // The users continue, each with the store that it had. After a violation they may fail in other ways.
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
    return { seed, kills, violations, acknowledged: book.acknowledged, failures };
  });

const started = (type: ServerPlace["type"], folder: string, port: number, fault: Fault | null): Promise<Server> => {
  if (type === "redis") {
    // As the docs demand.
    const settings =
      fault === "dumps"
        ? { appendonly: "no" }
        : { appendonly: "yes", appendfsync: fault === "everysec" ? "everysec" : "always" };
    return startRedis({ folder, port, settings });
  }
  // The machine stays on: what the server has handed to the operating system survives its death without fsync.
  const asynchronous = fault === "asynchronous-commit" ? { synchronous_commit: "off" } : {};
  return startPostgres({ folder, port, settings: { fsync: "off", ...asynchronous } });
};

/** Of the files that Redis appends to: all of them in version 7, where one that is read again grows no more. */
const sizesIn = (folder: string): readonly { readonly path: string; readonly bytes: number }[] =>
  globSync(join(folder, "data/**/*.aof")).map((path) => ({ path, bytes: statSync(path).size }));

/** Kills a server and its children with SIGKILL, the parent first, and waits until none of them is there. */
const kill = async (pid: number): Promise<void> => {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  const all = [pid, ...stdout.split(/\s+/).filter(Boolean).map(Number)];
  for (const each of all) signalled(each, "SIGKILL");
  while (all.some((each) => signalled(each, 0))) await pause(5);
};

/** False when it is not there any more. */
const signalled = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};
