import type { MachineOptions } from "@colloquy/machine";
import type { Policy } from "@colloquy/machine/policies";
import {
  composedPolicyArbitrary,
  plainPolicyArbitraries,
  summarisingPolicyArbitraries,
  templateCounter,
} from "@colloquy/runtime-test/arbitraries";
import { checkPolicyLaws } from "@colloquy/runtime-test/laws";
import fc from "fast-check";

import { type SeededRun, wordsOf } from "../kit/report.ts";
import { answerQuestions } from "../kit/threads.ts";

export interface Question {
  readonly seed: number;
  /** Only policies of this kind; null for all. */
  readonly policy: string | null;
}

/** Arbitraries of the shipped policies by name, with random options, and of compositions. */
export const kinds: { readonly [kind: string]: fc.Arbitrary<Policy | MachineOptions> } = {
  ...plainPolicyArbitraries,
  ...summarisingPolicyArbitraries,
  compose: composedPolicyArbitrary,
  composeInTemplate: composedPolicyArbitrary.map((policy) => ({ policy, counter: templateCounter })),
};

/** Few for each policy, since the next seed draws other options. */
const conversations = 10;

/** Checks the laws of pruning for one policy of each kind, on conversations that the seed draws too. */
answerQuestions(({ seed, policy }: Question): SeededRun => {
  const chosen = Object.entries(kinds).filter(([name]) => policy === null || name === policy);
  const violations = chosen.flatMap(([name, subjects]) => {
    try {
      for (const subject of fc.sample(subjects, { seed, numRuns: 1 }))
        checkPolicyLaws(subject, { runs: conversations, seed });
      return [];
    } catch (thrown) {
      return [`${name}: ${wordsOf(thrown)}`];
    }
  });
  return { seed, violations, counts: { policies: chosen.length } };
});
