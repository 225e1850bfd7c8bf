// Holds every shipped policy, and compositions of them, to the laws of pruning: on every recorded conversation of a
// folder, at every step, with budgets from none to more than the whole thread. Exits with 1 when a law is broken, or
// when there was nothing to check; with 2 for arguments that can't be meant.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

import { readRecordings } from "@colloquy/runtime-test/recordings";
import { addTallies, printed, type Tallies, type Violation, violationsIn } from "./tally.ts";
import type { Outcome, Share } from "./worker.ts";

const usage = `Usage: pnpm policies [DIR] [--budgets N] [--seed S] [--policy NAME] [--conversation ID] [--workers W]

  DIR                where the recordings are (default: what COLLOQUY_RECORDINGS says, else ../shared/recordings)
  --budgets N        how many budgets each conversation gets (default 100)
  --seed S           what is drawn: budgets, pinned messages, compositions (default 1)
  --policy NAME      only this one, by the name that is printed
  --conversation ID  only this one
  --workers W        how many threads do it (default: as many as there are processors)`;

type Options = Omit<Share, "part">;

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${usage}\n\n${options}`);
    process.exitCode = 2;
    return;
  }
  const recorded = await conversationsIn(options.folder);
  if (typeof recorded === "string") {
    console.error(recorded);
    process.exitCode = 2;
    return;
  }
  console.log(`${options.folder}: ${count(recorded)} conversations\n`);
  const started = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: options.parts }, (_, part) => outcomeOf({ ...options, part })),
  );
  const tallies = outcomes.reduce<Tallies>((sum, outcome) => addTallies(sum, outcome.tallies), {});
  const sum = (of: "conversations" | "steps"): number => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  const prompts = Object.values(tallies).reduce((total, tally) => total + tally.prompts, 0);
  const broken = violationsIn(tallies);
  console.log(printed(tallies, (violation, policy) => repeating(options, violation, policy)));
  console.log(
    `\n${count(sum("conversations"))} conversations, ${count(sum("steps"))} steps, ${Object.keys(tallies).length} policies, ${count(prompts)} prompts, seed ${options.seed}: ${count(broken)} violations, in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  if (prompts === 0) console.error("there was nothing to check");
  process.exitCode = broken > 0 || prompts === 0 ? 1 : 0;
};

const outcomeOf = (share: Share): Promise<Outcome> =>
  new Promise((resolveWith, reject) => {
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: share });
    worker.once("error", reject);
    worker.once("message", resolveWith);
  });

/** How many there are in a folder; in words why it can't be read. */
const conversationsIn = async (folder: string): Promise<number | string> => {
  try {
    const { cases } = await readRecordings(folder);
    return cases.reduce((total, { records }) => total + records.length, 0);
  } catch (thrown) {
    return `the recordings in ${folder} can't be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
};

/** The command that shows a violation again. */
const repeating = ({ folder, budgets, seed }: Options, { conversation }: Violation, policy: string): string =>
  `pnpm policies '${folder}' --budgets ${budgets} --seed ${seed} --conversation '${conversation}' --policy '${policy}'`;

const optionsOf = (args: string[]): Options | string => {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        budgets: { type: "string", default: "100" },
        seed: { type: "string", default: "1" },
        policy: { type: "string" },
        conversation: { type: "string" },
        workers: { type: "string", default: String(availableParallelism()) },
      },
    });
    const [budgets, seed, parts] = [Number(values.budgets), Number(values.seed), Number(values.workers)];
    if (!isCount(budgets, 1)) return `--budgets is ${values.budgets}; it must be a whole number of 1 or more`;
    if (!isCount(seed, 0)) return `--seed is ${values.seed}; it must be a whole number of 0 or more`;
    if (!isCount(parts, 1)) return `--workers is ${values.workers}; it must be a whole number of 1 or more`;
    const folder = folderOf(positionals[0]);
    if (!existsSync(folder)) return `there are no recordings: ${folder} does not exist`;
    return { folder, parts, budgets, seed, policy: values.policy ?? null, conversation: values.conversation ?? null };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

const folderOf = (argument: string | undefined): string =>
  resolve(argument ?? process.env["COLLOQUY_RECORDINGS"] ?? join(import.meta.dirname, "../../../shared/recordings"));

const isCount = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;

const count = (value: number): string => value.toLocaleString("en");

await main();
