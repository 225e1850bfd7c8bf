// Kills a Redis of its own with SIGKILL while stores append to it, starts it again, and checks that every acknowledged
// entry is there, that nothing is there which nobody wrote, and that the same stores go on. The Redis is set up as the
// docs demand, with `appendfsync always`. Exits with 1 when anything is wrong.
import { globSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { redisStore, type RedisStore } from "@colloquy/runtime-node/redis";

import { randomOf } from "../crash/random.ts";
import { violationsIn } from "../crash-postgres/check.ts";
import { startCrowd } from "../crash-postgres/crowd.ts";
import { killServer } from "../crash-postgres/kill.ts";
import { freePort } from "../servers/process.ts";
import { startRedis } from "../servers/redis.ts";

const faults = {
  everysec: "the server flushes each second, and the power fails: what it wrote since is gone",
  dumps: "the server keeps no append-only file",
} as const;

export type RedisFault = keyof typeof faults;

const usage = `Usage: pnpm crash-redis [--runs N] [--seed S] [--fault NAME]

  --runs N      how often to kill the server (default 20)
  --seed S      what the moments of the kills follow from (default: drawn)
  --fault NAME  set the server up wrongly, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                ${name}: ${meaning}`)
  .join("\n")}`;

export interface RedisCrashes {
  readonly kills: number;
  readonly acknowledged: number;
  readonly failures: number;
  readonly violations: readonly string[];
}

/** Kills a server so many times, or until something is wrong. */
export const crashRedis = async (runs: number, seed: number, fault: RedisFault | null): Promise<RedisCrashes> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-crash-redis-"));
  const options = { folder, settings: settingsFor(fault), port: await freePort() };
  let server = await startRedis(options);
  const open = (): RedisStore => redisStore({ url: server.url });
  const [reader, stores] = [open(), [open(), open(), open()]];
  try {
    const crowd = startCrowd(stores);
    const random = randomOf(seed);
    const violations: string[] = [];
    let kills = 0;
    while (kills < runs && violations.length === 0) {
      await crowd.acknowledged(random.integer(5, 200));
      const flushed = fault === "everysec" ? sizesIn(folder) : [];
      if (fault === "everysec") await crowd.acknowledged(20);
      await killServer(server.pid);
      kills += 1;
      for (const { path, bytes } of flushed) truncateSync(path, bytes);
      server = await startRedis(options);
      // Its connection is broken, which the first call may have to find out.
      await reader.list().catch(() => undefined);
      violations.push(...(await violationsIn(reader, crowd.writers)));
    }
    // They go on, each with the store that it had. Where something is wrong they may meet what they did not expect.
    if (violations.length === 0) await crowd.acknowledged(20);
    await crowd.stop().catch((error: unknown) => void violations.push(String(error)));
    const sum = (of: (writer: (typeof crowd.writers)[number]) => number): number =>
      crowd.writers.reduce((total, writer) => total + of(writer), 0);
    const [acknowledged, failures] = [sum((each) => each.acknowledged.size), sum((each) => each.failures())];
    return { kills, violations, acknowledged, failures };
  } finally {
    await Promise.all([reader, ...stores].map((store) => store.close()));
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const settingsFor = (fault: RedisFault | null): Readonly<Record<string, string>> =>
  fault === "dumps"
    ? { appendonly: "no" }
    : { appendonly: "yes", appendfsync: fault === "everysec" ? "everysec" : "always" };

/** Of the files that it appends to: all of them in version 7, where one that is read again grows no more. */
const sizesIn = (folder: string): readonly { readonly path: string; readonly bytes: number }[] =>
  globSync(join(folder, "data/**/*.aof")).map((path) => ({ path, bytes: statSync(path).size }));

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { runs, seed, fault } = options;
  const started = performance.now();
  const { kills, acknowledged, failures, violations } = await crashRedis(runs, seed, fault);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `A Redis killed ${kills} times; ${acknowledged} entries were acknowledged, ${failures} calls failed meanwhile. Seed ${seed}, ${seconds} s.`,
  );
  if (violations.length === 0) console.log("Nothing is wrong.");
  for (const violation of violations.slice(0, violationsShown)) console.error(`  ${violation}`);
  if (violations.length > violationsShown) console.error(`  and ${violations.length - violationsShown} more`);
  process.exitCode = violations.length === 0 ? 0 : 1;
};

const violationsShown = 10;

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly fault: RedisFault | null;
}

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const string = { type: "string" } as const;
    const { values } = parseArgs({ args: [...given], options: { runs: string, seed: string, fault: string } });
    const { runs = "20", seed = String(Math.floor(Math.random() * 1_000_000)), fault } = values;
    if (!/^[1-9]\d{0,3}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,9}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && fault !== "everysec" && fault !== "dumps") return `there is no fault "${fault}"`;
    return { runs: Number(runs), seed: Number(seed), fault: fault ?? null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

if (import.meta.main) await main();
