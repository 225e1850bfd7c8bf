// Checks the laws of pruning for every shipped policy, and for compositions of them: each prunes every recorded
// conversation of a folder, with budgets from none to more than the whole thread. Exits with 1 if a law is broken or
// there was nothing to check, with 2 for invalid arguments.
import { readRecordings } from "@colloquy/runtime-test/recordings";

import { runCommand } from "../kit/command.ts";
import { text, whole, workers } from "../kit/options.ts";
import { recordingsFolder } from "../kit/recordings.ts";
import { reportRuns, type SeededRun, wordsOf } from "../kit/report.ts";
import { askThreads } from "../kit/threads.ts";
import type { Share } from "./worker.ts";

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
    try {
      await readRecordings(options.folder);
    } catch (thrown) {
      console.error(`the recordings in ${options.folder} can't be read: ${wordsOf(thrown)}`);
      process.exitCode = 2;
      return;
    }
    const shares = Array.from({ length: parts }, (_, part): Share => ({ ...options, parts, part }));
    const checked = askThreads<SeededRun>(new URL("worker.ts", import.meta.url), shares);
    await reportRuns(`the laws of pruning in ${options.folder}`, checked, options.seed, again);
    if ((await checked).some(({ counts = {} }) => (counts["prompts"] ?? 0) > 0)) return;
    console.error("there was nothing to check");
    process.exitCode = 1;
  },
});
