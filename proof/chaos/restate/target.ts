// Holds conversations on a durable engine, and kills its workers and the engine itself with SIGKILL. Checks that each
// ask was answered once, that no once-only tool ran twice, and that each journal is that of the host in memory, or
// differs as the recovery table says. Beside it, trials of waits and moves.
import { inFolder } from "../../kit/folder.ts";
import { someOf } from "../../kit/options.ts";
import { runSeeds, type SeededRun } from "../../kit/report.ts";
import { commandOf } from "../../kit/target.ts";
import { referencesOf } from "./converse.ts";
import { faults } from "./faults.ts";
import { withWorker } from "./fleet.ts";
import { moveAround } from "./moves.ts";
import { run, type RunOptions, runOptions } from "./run.ts";
import { outliveKills } from "./waits.ts";

export const killEngines = async (runs: number, seed: number, options: RunOptions): Promise<readonly SeededRun[]> => {
  const references = await referencesOf(options.conversations, options.turns);
  return withWorker(options.fault, (program) =>
    runSeeds(runs, seed, (each) => run(program, each, options, references)),
  );
};

/** The other trials of an engine. Each returns its problems. */
const trials = {
  waits: (folder, { "snapshot-every": every, fault }) => outliveKills(folder, every, fault),
  moves: (folder, { "snapshot-every": every, fault }) => moveAround(folder, every, fault),
} satisfies Record<string, (folder: string, options: RunOptions) => Promise<readonly string[]>>;

// The keys of the object above.
const trialNames = Object.keys(trials) as (keyof typeof trials)[];

const tryOut = async (name: keyof typeof trials, seed: number, options: RunOptions): Promise<SeededRun> => {
  const violations = await inFolder(`chaos-${name}`, (folder) => trials[name](folder, options), {
    isKept: ({ length }) => length > 0,
  });
  return { seed, violations: violations.map((violation) => `${name}: ${violation}`), counts: { [name]: 1 } };
};

export const command = commandOf({
  name: "restate",
  // The engine keeps its threads itself; `pnpm engines:install` installs it. Redis has its hub, and the other stores are
  // places of moves: `pnpm servers` starts them.
  stores: ["restate"],
  faults,
  runs: [1, "the number of engines, one after the other"],
  options: {
    part: someOf(
      ["conversations", ...trialNames],
      `the trials: conversations, ${trialNames.join(", ")} (default: one after the other); the next options are for conversations`,
    ),
    ...runOptions,
  },
  run: async ({ runs, seed, fault }, { part: parts, ...given }) => {
    const options = { ...given, fault };
    const done: SeededRun[] = [];
    for (const part of parts)
      done.push(
        ...(part === "conversations" ? await killEngines(runs, seed, options) : [await tryOut(part, seed, options)]),
      );
    return done;
  },
});
