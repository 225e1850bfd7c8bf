import { arrowsOfChart } from "./arrows.ts";
import { featuresOf } from "./features.ts";
import { played } from "./observe.ts";
import { scriptOf } from "./record.ts";
import type { Vector } from "./vector.ts";

/** The features that vectors show, and the arrows of the statechart that none of them takes. */
export interface Coverage {
  readonly features: ReadonlySet<string>;
  readonly missing: readonly string[];
}

/** Returns the features that a set of vectors shows, as the machine plays them now. */
export const coverageOf = (vectors: readonly Vector[]): Coverage => {
  const features = new Set(vectors.flatMap((vector) => [...featuresOf(played(scriptOf(vector)))]));
  const missing = arrowsOfChart().filter(
    (arrow) => !features.has(arrow) && !neverTaken.some((never) => never.test(arrow)),
  );
  return { features, missing };
};

/** The chart says where an event leads where it is taken, and these never are. */
const neverTaken: readonly RegExp[] = [
  // Before the first turn nothing waits, and nothing is out.
  /^(timer\.fired|llm\.completed|llm\.failed|cancel\.requested) leads from idle /,
  // An ask in idle opens a turn.
  /^ask\.received leads from idle to idle$/,
  // A thread is edited between turns only.
  /^(thread\.forked|thread\.redacted|turn\.added|answer\.truncated|head\.moved|checkpoint\.named) leads from (responding|compacting|checking|backing_off|running|awaiting_approval) /,
  // A call that waited for a summary in vain goes without one.
  /^llm\.failed leads from compacting to compacting$/,
];
