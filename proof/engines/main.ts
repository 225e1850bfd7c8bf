// Holds conversations on a durable engine, kills its workers and the engine itself with SIGKILL in the middle of them,
// and checks that each ask was answered once, that no once-only tool ran twice, and that each journal is the one of the
// host in memory, or differs from it as the table of recovery says. Exits with 1 when anything is wrong.
import { fileURLToPath } from "node:url";

import { runCommand } from "../kit/command.ts";
import { inFolder } from "../kit/folder.ts";
import { fault, flag, oneOf, seed, someOf, whole } from "../kit/options.ts";
import { withProgram } from "../kit/program.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { reportRuns, runSeeds } from "../kit/seeded-runs.ts";
import { faults } from "./faults.ts";
import { moveAround } from "./moves.ts";
import { playScenes } from "./play-scenes.ts";
import { referencesOf } from "./reference.ts";
import { totalsOf } from "./report.ts";
import { runNames } from "./script.ts";
import { type Run, run, type RunOptions } from "./run.ts";
import { outliveKills } from "./waits.ts";

/** Runs of consecutive seeds, each on an engine of its own. Stops early at a violation. */
export const killEngines = async (runs: number, seed: number, options: RunOptions): Promise<readonly Run[]> => {
  const references = await referencesOf(options.conversations, options.turns);
  const runAll = (program: string): Promise<readonly Run[]> =>
    runSeeds(runs, seed, (each) => run(program, each, options, references));
  return options.fault === null
    ? withProgram(new URL(import.meta.resolve("./worker.ts")), runAll)
    : runAll(fileURLToPath(import.meta.resolve("./faulty-worker.ts")));
};

/** The trials of an engine, beside conversations. Each returns its problems. */
const trials = {
  scenes: (folder, { snapshotEvery, fault }) => playScenes(folder, snapshotEvery, fault),
  waits: (folder, { snapshotEvery }) => outliveKills(folder, snapshotEvery),
  moves: (folder, { snapshotEvery }) => moveAround(folder, snapshotEvery),
} satisfies Record<string, (folder: string, options: RunOptions) => Promise<readonly string[]>>;

// The keys of the object above.
const trialNames = Object.keys(trials) as (keyof typeof trials)[];

const tryOut = async (name: keyof typeof trials, options: RunOptions): Promise<void> => {
  const seconds = stopwatch();
  const isKept = (violations: readonly string[]): boolean => options.keep || violations.length > 0;
  const violations = await inFolder(`engines-${name}`, (folder) => trials[name](folder, options), isKept);
  if (violations.length === 0) console.log(`${name}: nothing is wrong, ${seconds()} s.`);
  else console.error(`${name}: ${count(violations.length, "violation")}.`);
  printViolations(violations);
};

const some = { least: 0 };

if (import.meta.main)
  await runCommand({
    name: "engines",
    options: {
      engine: oneOf(["restate"], "restate", "the engine (default restate, which `pnpm engines:install` gets)"),
      part: someOf(
        ["conversations", ...trialNames],
        `what to try: conversations, ${trialNames.join(", ")} (default: one after the other); what follows is of conversations`,
      ),
      runs: whole(1, "how many engines, one after the other"),
      conversations: whole(200, "how many conversations on each"),
      turns: whole(5, "how many asks in each"),
      kills: whole(20, "how often to kill a worker", some),
      "server-kills": whole(5, "how often to kill the server", some),
      workers: whole(2, "how many workers", { placeholder: "W" }),
      "snapshot-every": whole(32, "after how many entries a snapshot is kept", some),
      at: someOf(runNames, `at the beginning of what to kill: ${runNames.join(", ")} (default: of any of them)`),
      lanes: whole(40, "how many conversations are held at a time"),
      slack: whole(15, "how long each tool and model call takes at most, in milliseconds", some),
      seed: seed("what the moments of the kills follow from; run i has the seed S + i"),
      keep: flag("leave the folder of each run, also when nothing is wrong"),
      fault: fault(faults),
    },
    run: async (
      { part: parts, runs, seed, slack, "server-kills": serverKills, "snapshot-every": snapshotEvery, ...given },
      again,
    ) => {
      const options = { ...given, serverKills, snapshotEvery, slackMs: slack };
      for (const part of parts) {
        if (part === "conversations") await reportRuns(killEngines(runs, seed, options), totalsOf, seed, again);
        else await tryOut(part, options);
      }
    },
  });
