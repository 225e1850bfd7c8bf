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

import { answerQuestions } from "../kit/threads.ts";

/** The seeds to check: one in `step` of the `count` seeds from the first on. */
export interface Share {
  readonly first: number;
  readonly count: number;
  readonly step: number;
  /** Only policies of this kind; null for all. */
  readonly kind: string | null;
}

/** The number of policies checked, and those that broke a law. */
export interface Outcome {
  readonly policies: number;
  readonly broken: readonly Broken[];
}

/** A policy that broke a law, or that a law accuses wrongly. */
interface Broken {
  readonly seed: number;
  readonly kind: string;
  readonly problem: string;
}

/** Arbitraries of the shipped policies by name, with random options, and of compositions. */
export const kinds: { readonly [kind: string]: fc.Arbitrary<Policy | MachineOptions> } = {
  ...plainPolicyArbitraries,
  ...summarisingPolicyArbitraries,
  compose: composedPolicyArbitrary,
  composeInTemplate: composedPolicyArbitrary.map((policy) => ({ policy, counter: templateCounter })),
};

/** Checks the laws of pruning for one policy of each kind for each seed, on conversations that the seed draws too. */
const checkSeeds = ({ first, count, step, kind }: Share): Outcome => {
  const chosen = Object.entries(kinds).filter(([name]) => kind === null || name === kind);
  const broken: Broken[] = [];
  for (let seed = first; seed < first + count; seed += step) {
    for (const [name, subjects] of chosen) {
      const problem = problemOf(subjects, seed);
      if (problem !== null) broken.push({ seed, kind: name, problem });
    }
  }
  return { policies: Math.ceil(count / step) * chosen.length, broken };
};

/** Few for each policy, since the next seed draws other options. */
const conversations = 10;

const problemOf = (subjects: fc.Arbitrary<Policy | MachineOptions>, seed: number): string | null => {
  try {
    for (const subject of fc.sample(subjects, { seed, numRuns: 1 }))
      checkPolicyLaws(subject, { runs: conversations, seed });
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

answerQuestions(checkSeeds);
