import type { HostedThread } from "@colloquy/host";
import type { SessionTurn } from "../thread/turns.ts";

/**
 * Says how good a turn is, from its inputs and outputs, and `gold` where the caller gives some: a number, or a boolean,
 * which counts as 1 or 0. Nothing (`null`, `undefined`) counts as 0.
 */
export type Metric<Inputs extends object, Result extends object, Gold = unknown> = (
  turn: SessionTurn<Inputs, Result>,
  gold: Gold | undefined,
) => Judged | Promise<Judged>;

type Judged = number | boolean | null | undefined;

/** How turns are scored. */
export interface ScoreOptions<Gold = unknown> {
  /** What the metric holds each turn against. */
  readonly gold?: Gold;
  /**
   * What becomes of a turn for which the metric throws, or gives what is no number. `zero`: it scores 0, and the error is
   * reported. `raise`: no turn is scored, and the error is thrown. Default `zero`.
   */
  readonly onMetricError?: "zero" | "raise";
}

/** Called with what a metric threw, for which a turn scored 0. */
export type MetricReport = (error: unknown, turn: number) => void;

/**
 * Scores turns, one after the other. Gives the scores in the order of the turns; nothing is journalled.
 *
 * @throws what the metric throws, where that is to be raised; else nothing.
 */
export const scoresOf = async <Inputs extends object, Result extends object, Gold>(
  turns: readonly SessionTurn<Inputs, Result>[],
  metric: Metric<Inputs, Result, Gold>,
  { gold, onMetricError = "zero" }: ScoreOptions<Gold>,
  report: MetricReport,
): Promise<readonly number[]> => {
  const scores: number[] = [];
  for (const turn of turns) {
    try {
      scores.push(numberOf(await metric(turn, gold), turn.number));
    } catch (thrown) {
      if (onMetricError === "raise") throw thrown;
      report(thrown, turn.number);
      scores.push(0);
    }
  }
  return scores;
};

/** Journals the scores of turns, where they are others than before. */
export const noteScores = async (
  thread: HostedThread,
  turns: readonly SessionTurn[],
  scores: readonly number[],
): Promise<void> => {
  for (const [index, turn] of turns.entries()) {
    const score = scores[index];
    if (score !== undefined && score !== scoreOf(turn)) await thread.annotate(turn.number, annotationName, score);
  }
};

/** The newest score of a turn; null for none. */
export const scoreOf = ({ annotations }: Pick<SessionTurn, "annotations">): number | null => {
  const value = annotations.findLast(({ name }) => name === annotationName)?.value;
  return typeof value === "number" ? value : null;
};

/** Scores are annotations of turns, under this name. */
const annotationName = "score";

const numberOf = (judged: unknown, turn: number): number => {
  const score = judged ?? 0;
  if (typeof score === "boolean") return Number(score);
  if (typeof score === "number" && Number.isFinite(score)) return score;
  const given = typeof score === "number" ? String(score) : `a value of type ${typeof score}`;
  throw new TypeError(`the metric gave ${given} for turn ${turn}; a score is a finite number, or true or false`);
};
