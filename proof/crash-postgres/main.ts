// Kills a PostgreSQL of its own, the postmaster and all backends, with SIGKILL while stores append to it, starts it
// again, and checks that every acknowledged entry is there, that nothing is there which nobody wrote, and that the
// same stores go on. Exits with 1 when anything is wrong.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { postgresStore, type PostgresStore } from "@colloquy/runtime-node/postgres";

import { randomOf } from "../crash/random.ts";
import { violationsIn } from "./check.ts";
import { startCrowd } from "./crowd.ts";
import { killServer } from "./kill.ts";
import type { Writer } from "./writer.ts";
import { startPostgres } from "../servers/postgres.ts";
import { freePort } from "../servers/process.ts";

const faults = {
  "asynchronous-commit": "the server acknowledges what it has not written yet",
} as const;

const usage = `Usage: pnpm crash-postgres [--runs N] [--seed S] [--fault NAME]

  --runs N      how often to kill the server (default 20)
  --seed S      what the moments of the kills follow from (default: drawn)
  --fault NAME  build a mistake in, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                ${name}: ${meaning}`)
  .join("\n")}`;

export type PostgresFault = keyof typeof faults;

export interface PostgresCrashes {
  readonly kills: number;
  readonly acknowledged: number;
  readonly failures: number;
  readonly violations: readonly string[];
}

/** Kills a server so many times, or until something is wrong. */
export const crashPostgres = async (
  runs: number,
  seed: number,
  fault: PostgresFault | null,
): Promise<PostgresCrashes> => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-crash-postgres-"));
  // The server runs as another user when this is root.
  chmodSync(folder, 0o755);
  // The machine stays on: what the server has handed to the operating system survives its death without fsync.
  const settings = { fsync: "off", ...(fault !== null && { synchronous_commit: "off" }) };
  const options = { folder, settings, port: await freePort() };
  let server = await startPostgres(options);
  const open = (): PostgresStore => postgresStore({ connectionString: server.url });
  const [reader, stores] = [open(), [open(), open(), open()]];
  try {
    const crowd = startCrowd(stores);
    const random = randomOf(seed);
    const violations: string[] = [];
    let kills = 0;
    while (kills < runs && violations.length === 0) {
      await crowd.acknowledged(random.integer(5, 200));
      await killServer(server.pid);
      kills += 1;
      server = await startPostgres(options);
      violations.push(...(await violationsIn(reader, crowd.writers)));
    }
    // They go on, each with the store that it had.
    if (violations.length === 0) await crowd.acknowledged(20);
    await crowd.stop();
    return { kills, violations, ...totalsOf(crowd.writers) };
  } finally {
    await Promise.all([reader, ...stores].map((store) => store.close()));
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const totalsOf = (writers: readonly Writer[]): Pick<PostgresCrashes, "acknowledged" | "failures"> => ({
  acknowledged: writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
  failures: writers.reduce((sum, { failures }) => sum + failures(), 0),
});

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { runs, seed, fault } = options;
  const started = performance.now();
  const { kills, acknowledged, failures, violations } = await crashPostgres(runs, seed, fault);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `A PostgreSQL killed ${kills} times; ${acknowledged} entries were acknowledged, ${failures} calls failed meanwhile. Seed ${seed}, ${seconds} s.`,
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
  readonly fault: PostgresFault | null;
}

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const string = { type: "string" } as const;
    const { values } = parseArgs({ args: [...given], options: { runs: string, seed: string, fault: string } });
    const { runs = "20", seed = String(Math.floor(Math.random() * 1_000_000)), fault } = values;
    if (!/^[1-9]\d{0,3}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,9}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && fault !== "asynchronous-commit") return `there is no fault "${fault}"`;
    return { runs: Number(runs), seed: Number(seed), fault: fault ?? null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

if (import.meta.main) await main();
