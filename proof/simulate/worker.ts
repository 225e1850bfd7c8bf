// Simulates one seed after the other, and counts what happened: steps, faults, and the events taken in each state.
import { simulate } from "@colloquy/runtime-test/simulate";

import { stackOf, type SeededRun } from "../kit/report.ts";
import { answerQuestions } from "../kit/threads.ts";

answerQuestions(async (seed: number): Promise<SeededRun> => {
  try {
    const { journal, counts } = await simulate({ seed });
    const { processes, steps, faults, transitions } = counts;
    const parts = { "journal entries": journal.length, processes, "steps into and out of a host": steps };
    return { seed, violations: [], counts: { ...parts, ...faults, ...transitions } };
  } catch (thrown) {
    return { seed, violations: [stackOf(thrown)] };
  }
});
