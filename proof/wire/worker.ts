import { checkWireLaws, surveyWire, type WireFault, type WireTarget } from "@colloquy/runtime-test/laws";

import { wordsOf } from "../kit/report.ts";
import { answerQuestions } from "../kit/threads.ts";
import { wireTargets } from "./targets.ts";

export interface Share {
  readonly threads: number;
  readonly seed: number;
  readonly path: string | null;
  /** One family, or `all`. */
  readonly dialect: string;
  readonly survey: boolean;
}

export interface Outcome {
  readonly requests: number;
  /** The text of the broken law; null if none was broken. */
  readonly problem: string | null;
  /** The faults of a survey. */
  readonly faults: readonly WireFault[];
}

export const targetsOf = (dialect: string): readonly WireTarget[] =>
  wireTargets.filter(({ family }) => dialect === "all" || family === dialect);

const checkShare = async ({ threads, seed, path, dialect, survey }: Share): Promise<Outcome> => {
  // The AI SDK warns of odd prompts, which are the law's subject.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const targets = targetsOf(dialect);
  if (survey) return { requests: 0, problem: null, faults: await surveyWire(targets, { threads, seed }) };
  try {
    const { requests } = await checkWireLaws(targets, { threads, seed, ...(path === null ? {} : { path }) });
    return { requests, problem: null, faults: [] };
  } catch (error) {
    return { requests: 0, problem: wordsOf(error), faults: [] };
  }
};

answerQuestions(checkShare);
