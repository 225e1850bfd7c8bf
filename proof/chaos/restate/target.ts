// Holds conversations on a durable engine, kills its workers and the engine itself with SIGKILL in the middle of them,
// and checks that each ask was answered once, that no once-only tool ran twice, and that each journal is the one of the
// host in memory, or differs from it as the table of recovery says. Beside it, trials of scenes, waits and moves.
import { inFolder } from "../../kit/folder.ts";
import { withMistakes } from "../../kit/mistakes.ts";
import { flag, someOf, whole } from "../../kit/options.ts";
import { withProgram } from "../../kit/program.ts";
import { runSeeds, type SeededRun, sumOf } from "../../kit/seeded-runs.ts";
import { runNames } from "../story/script.ts";
import { commandOf } from "../../kit/target.ts";
import { faults, mistakes } from "./faults.ts";
import { moveAround } from "./moves.ts";
import { playScenes } from "./play-scenes.ts";
import { referencesOf } from "./reference.ts";
import { type Run, run, type RunOptions } from "./run.ts";
import { outliveKills } from "./waits.ts";

/** Runs of consecutive seeds, each on an engine of its own. Stops early at a violation. */
export const killEngines = async (runs: number, seed: number, options: RunOptions): Promise<readonly Run[]> => {
  const references = await referencesOf(options.conversations, options.turns);
  const plugins = options.fault === null ? [] : [withMistakes([mistakes[options.fault]])];
  return withProgram(
    new URL(import.meta.resolve("./worker.ts")),
    (program) => runSeeds(runs, seed, (each) => run(program, each, options, references)),
    plugins,
  );
};

/** The trials of an engine, beside conversations. Each returns its problems. */
const trials = {
  scenes: (folder, { snapshotEvery, fault }) => playScenes(folder, snapshotEvery, fault),
  waits: (folder, { snapshotEvery }) => outliveKills(folder, snapshotEvery),
  moves: (folder, { snapshotEvery }) => moveAround(folder, snapshotEvery),
} satisfies Record<string, (folder: string, options: RunOptions) => Promise<readonly string[]>>;

// The keys of the object above.
const trialNames = Object.keys(trials) as (keyof typeof trials)[];

const tryOut = async (name: keyof typeof trials, seed: number, options: RunOptions): Promise<SeededRun> => {
  const isKept = (violations: readonly string[]): boolean => options.keep || violations.length > 0;
  const violations = await inFolder(`chaos-${name}`, (folder) => trials[name](folder, options), isKept);
  return { seed, violations: violations.map((violation) => `${name}: ${violation}`) };
};

const some = { least: 0 };

export const command = commandOf({
  name: "restate",
  // It keeps its threads itself; `pnpm engines:install` gets it.
  stores: ["restate"],
  faults,
  runs: [1, "how many engines, one after the other"],
  options: {
    part: someOf(
      ["conversations", ...trialNames],
      `what to try: conversations, ${trialNames.join(", ")} (default: one after the other); what follows is of conversations`,
    ),
    conversations: whole(200, "how many conversations on each"),
    turns: whole(5, "how many asks in each"),
    kills: whole(20, "how often to kill a worker", some),
    "server-kills": whole(5, "how often to kill the server", some),
    workers: whole(2, "how many workers", { placeholder: "W" }),
    "snapshot-every": whole(32, "after how many entries a snapshot is kept", some),
    at: someOf(runNames, `at the beginning of what to kill: ${runNames.join(", ")} (default: of any of them)`),
    lanes: whole(40, "how many conversations are held at a time"),
    slack: whole(15, "how long each tool and model call takes at most, in milliseconds", some),
    keep: flag("leave the folder of each run, also when nothing is wrong"),
  },
  run: async ({ runs, seed, fault }, { part: parts, slack, ...given }): Promise<readonly (SeededRun | Run)[]> => {
    const options = {
      ...given,
      fault,
      serverKills: given["server-kills"],
      snapshotEvery: given["snapshot-every"],
      slackMs: slack,
    };
    const done: (SeededRun | Run)[] = [];
    for (const part of parts)
      done.push(
        ...(part === "conversations" ? await killEngines(runs, seed, options) : [await tryOut(part, seed, options)]),
      );
    return done;
  },
  totals: (runs) => {
    const held = runs.filter((each): each is Run => "asks" in each);
    return (
      `${runs.length - held.length} trials. ${sumOf(held, ({ asks }) => asks)} asks were answered once, over ` +
      `${sumOf(held, ({ kills }) => kills)} kills of workers and ${sumOf(held, ({ serverKills }) => serverKills)} of the server.\n` +
      `${sumOf(held, ({ entries }) => entries)} entries are those of the host in memory, but for ` +
      `${sumOf(held, ({ recovered }) => recovered)} that stand in the place of what a crash swallowed.`
    );
  },
});
