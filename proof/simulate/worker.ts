import { simulate } from "@colloquy/runtime-test/simulate";

import { answerQuestions } from "../kit/threads.ts";
import { add, noTotals, type Totals, totalsOf } from "./totals.ts";

/** Seeds to simulate, one after the other. */
export interface Seeds {
  readonly from: number;
  readonly count: number;
}

/** The totals of some seeds, or the first seed that failed, and its problem. */
export type Outcome = { readonly totals: Totals } | { readonly seed: number; readonly problem: string };

const simulateSeeds = async ({ from, count }: Seeds): Promise<Outcome> => {
  let totals = noTotals;
  for (let seed = from; seed < from + count; seed++) {
    try {
      totals = add(totals, totalsOf(await simulate({ seed })));
    } catch (thrown) {
      return { seed, problem: problemOf(seed, thrown) };
    }
  }
  return { totals };
};

/** A broken law says it all; anything else is a mistake somewhere, and where is what matters. */
const problemOf = (seed: number, thrown: unknown): string => {
  if (!(thrown instanceof Error)) return `seed ${seed}: ${String(thrown)}`;
  return thrown.name === "SimulationError" ? thrown.message : `seed ${seed}: ${thrown.stack ?? thrown.message}`;
};

answerQuestions(simulateSeeds);
