import type { HostedThread } from "@colloquy/host";
import type { SessionTurn } from "../thread/turns.ts";

/**
 * Scores a turn by its inputs and outputs, and by `gold` if the caller gives it. Returns a number, or a boolean, which
 * counts as 1 or 0. `null` and `undefined` count as 0.
 */
export type Metric<Inputs extends object, Result extends object, Gold = unknown> = (
  turn: SessionTurn<Inputs, Result>,
  gold: Gold | undefined,
) => Judged | Promise<Judged>;

type Judged = number | boolean | null | undefined;

/** The options of scoring. */
export interface ScoreOptions<Gold = unknown> {
  /** The reference value that the metric compares each turn with. */
  readonly gold?: Gold;
  /**
   * The handling of a turn for which the metric throws or does not return a number. `zero`: it scores 0, and the error
   * is reported. `raise`: no turn is scored, and the error is thrown. Default `zero`.
   */
  readonly onMetricError?: "zero" | "raise";
}

/** Called with a metric's error, because of which a turn scored 0. */
export type MetricReport = (error: unknown, turn: number) => void;

/**
 * Scores turns, one after the other. Returns the scores in the order of the turns; nothing is journalled.
 *
 * @throws the metric's error if errors are raised; otherwise nothing.
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

/** Journals the scores of turns that differ from their present scores. */
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

/** Returns the newest score of a turn; null if there is none. */
export const scoreOf = ({ annotations }: Pick<SessionTurn, "annotations">): number | null => {
  const value = annotations.findLast(({ name }) => name === annotationName)?.value;
  return typeof value === "number" ? value : null;
};

/** The name of the annotations that contain scores. */
const annotationName = "score";

const numberOf = (judged: unknown, turn: number): number => {
  const score = judged ?? 0;
  if (typeof score === "boolean") return Number(score);
  if (typeof score === "number" && Number.isFinite(score)) return score;
  const given = typeof score === "number" ? String(score) : `a value of type ${typeof score}`;
  throw new TypeError(`the metric gave ${given} for turn ${turn}; a score is a finite number, or true or false`);
};
