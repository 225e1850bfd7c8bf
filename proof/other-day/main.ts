// Runs the tests of `pnpm test` on another weekday, across midnight, in another time zone and language, and in a narrow
// terminal. A test that depends on one of these fails. Properties try twice as many cases. Exits as vitest does.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

import { workspaceEnvironment } from "../../scripts/caller.ts";
import { sixteenth } from "../../test/runs.ts";
import { runCommand } from "../kit/command.ts";
import type { Option } from "../kit/options.ts";
import { seed } from "../kit/options.ts";
import { cacheFolder, unpackDebian } from "../servers/debian-packages.ts";

const root = join(import.meta.dirname, "../..");
const zone = "Asia/Kathmandu"; // 5:45 ahead of UTC, all year
const zoneMinutes = 345;
const [minuteMs, dayMs] = [60_000, 86_400_000];

const place = {
  TZ: zone,
  LANG: "de_DE.UTF-8",
  LC_ALL: "de_DE.UTF-8",
  COLUMNS: "37",
  LINES: "11",
  TERM: "vt100",
};

const args: Option<readonly string[]> = {
  kind: "positional",
  placeholder: "ARG …",
  about: "files and options for vitest (default: all tests)",
  read: (given) => given,
};

await runCommand({
  name: "other-day",
  options: { seed: seed("the seed of the properties' cases"), args },
  run: ({ seed, args }, again) => {
    const clock = clockAt(millisecondsUntilMidnight(Date.now()));
    const { status } = spawnSync("vitest", ["run", ...args], {
      cwd: root,
      stdio: "inherit",
      env: { ...workspaceEnvironment(), ...place, ...clock, COLLOQUY_SEED: String(seed), COLLOQUY_RUNS: sixteenth },
    });
    if (status !== 0) console.error(`\nTo see it again: ${again({ seed })} FILE`);
    process.exitCode = status ?? 1;
  },
});

/** Returns the time until a minute before midnight in three days, in the other zone. */
function millisecondsUntilMidnight(now: number): number {
  const local = now + zoneMinutes * minuteMs;
  return 3 * dayMs + (dayMs - (local % dayMs)) - minuteMs;
}

/** Returns variables that shift the clock of every process; none if this system has no `faketime`. */
function clockAt(offsetMs: number): Readonly<Record<string, string>> {
  const library = faketime();
  if (library === null) {
    console.log(`The date is unchanged: this system has no faketime. The time zone is ${zone}, the language German.`);
    return {};
  }
  console.log(`The clock is ${Math.round(offsetMs / minuteMs)} minutes ahead, in ${zone}.`);
  return { LD_PRELOAD: library, FAKETIME: `+${Math.round(offsetMs / 1000)}s`, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}

/** Returns the library of Debian's `faketime`: the installed one, or one that is unpacked now. */
function faketime(): string | null {
  const find = (folder: string): string | undefined =>
    globSync("usr/lib/*-linux-gnu/faketime/libfaketimeMT.so.1", { cwd: folder }).map((path) => join(folder, path))[0];
  const installed = find("/");
  if (installed !== undefined) return installed;
  const cache = cacheFolder();
  if (cache === null || process.platform !== "linux") return null;
  const folder = join(cache, "faketime-unpacked");
  try {
    if (find(folder) === undefined) unpackDebian(/^(faketime|libfaketime)$/, ["faketime"], folder);
  } catch (error) {
    console.log(String(error));
  }
  return find(folder) ?? null;
}
