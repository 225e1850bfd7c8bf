import { checkWireLaws, surveyWire, type WireFault, type WireTarget } from "@colloquy/runtime-test/laws";

import { wordsOf } from "../kit/report.ts";
import { wireTargets } from "./targets.ts";

/** The share of one worker. */
export interface Share {
  readonly threads: number;
  readonly seed: number;
  readonly path: string | null;
  /** A family, or all of them. */
  readonly dialect: string;
  readonly survey: boolean;
}

/** The outcome of a share. */
export interface Outcome {
  readonly requests: number;
  /** The law that was broken; null if none was. */
  readonly problem: string | null;
  /** Of a survey. */
  readonly faults: readonly WireFault[];
}

export const targetsOf = (dialect: string): readonly WireTarget[] =>
  wireTargets.filter(({ family }) => dialect === "all" || family === dialect);

export const checkShare = async ({ threads, seed, path, dialect, survey }: Share): Promise<Outcome> => {
  // It warns of odd prompts, which the law is about.
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
