// Checks the laws of pruning for every shipped policy, and for compositions of them: each prunes every recorded
// conversation of a folder, with budgets from none to more than the whole thread. Exits with 1 if a law is broken or
// there was nothing to check, with 2 for invalid arguments.
import { readRecordings } from "@colloquy/runtime-test/recordings";

import { runCommand } from "../kit/command.ts";
import { text, whole, workers } from "../kit/options.ts";
import { recordingsFolder } from "../kit/recordings.ts";
import { stopwatch, wordsOf } from "../kit/report.ts";
import { askThreads } from "../kit/threads.ts";
import { addTallies, printed, type Tallies } from "./tally.ts";
import type { Outcome, Share } from "./worker.ts";

/** Returns the number of conversations in a folder, or a text that says why it cannot be read. */
const conversationsIn = async (folder: string): Promise<number | string> => {
  try {
    const { cases } = await readRecordings(folder);
    return cases.reduce((total, { records }) => total + records.length, 0);
  } catch (thrown) {
    return `the recordings in ${folder} can't be read: ${wordsOf(thrown)}`;
  }
};

const number = (value: number): string => value.toLocaleString("en");

await runCommand({
  name: "policies",
  options: {
    folder: recordingsFolder,
    budgets: whole(100, "the number of budgets for each conversation and policy"),
    states: whole(3, "the number of states of a conversation that are also examined with other budgets"),
    seed: whole(1, "the seed of budgets, pinned messages and compositions", { least: 0, placeholder: "S" }),
    policy: text("NAME", "only this policy, by its printed name"),
    conversation: text("ID", "only this one"),
    workers,
  },
  run: async ({ workers: parts, ...options }, again) => {
    const recorded = await conversationsIn(options.folder);
    if (typeof recorded === "string") {
      console.error(recorded);
      process.exitCode = 2;
      return;
    }
    console.log(`${options.folder}: ${number(recorded)} conversations\n`);
    const seconds = stopwatch();
    const shares = Array.from({ length: parts }, (_, part): Share => ({ ...options, parts, part }));
    const outcomes = await askThreads<Outcome>(new URL("worker.ts", import.meta.url), shares);
    const tallies = outcomes.reduce<Tallies>((sum, outcome) => addTallies(sum, outcome.tallies), {});
    const conversations = outcomes.reduce((total, outcome) => total + outcome.conversations, 0);
    const prompts = Object.values(tallies).reduce((total, tally) => total + tally.prompts, 0);
    const broken = Object.values(tallies).reduce((total, { violations }) => total + violations.length, 0);
    console.log(printed(tallies, ({ conversation }, policy) => again({ conversation, policy })));
    console.log(
      `\n${number(conversations)} conversations, ${Object.keys(tallies).length} policies, ${number(prompts)} prompts, seed ${options.seed}: ${number(broken)} violations, in ${seconds()} s`,
    );
    if (prompts === 0) console.error("there was nothing to check");
    process.exitCode = broken > 0 || prompts === 0 ? 1 : 0;
  },
});
