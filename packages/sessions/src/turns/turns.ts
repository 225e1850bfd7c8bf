import {
  type Annotation,
  type JsonObject,
  type State,
  toArray,
  type Turn,
  turnsOf,
  type Usage,
} from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { fieldsOf, askOf, withoutMarks } from "../program/exchange.ts";
import type { HostedThread } from "@colloquy/host";

/** A recorded call of a program: frozen, and never changed afterwards. */
export interface SessionTurn<Inputs extends object = object, Result extends object = object> {
  /** The number of its turn; numbers are never reused. */
  readonly number: number;
  readonly inputs: Inputs;
  readonly outputs: Result;
  /** The usage of all nested model calls, including those of nested programs. */
  readonly usage: Usage;
  /** Scores and notes, oldest first. */
  readonly annotations: readonly Annotation[];
  /** The caller's metadata of the call. */
  readonly metadata: JsonObject;
}

/**
 * Returns the recorded calls on the path, oldest first: the completed turns, including those added by hand.
 *
 * @param most the largest number of calls; the newest are returned.
 */
export const sessionTurns = (state: State | null, most?: number): readonly SessionTurn[] =>
  state === null ? [] : turnsInView(state, most).filter(isRecorded).map(sessionTurn);

/** Returns the newest recorded calls on the path, oldest first, with the failed turns between and after them. */
export const turnsInView = (state: State, most: number = Number.POSITIVE_INFINITY): readonly Turn[] => {
  const path = turnsOf(state);
  const calls = path.filter(isRecorded);
  if (most >= calls.length) return path;
  const [first] = most === 0 ? [] : calls.slice(-most);
  return first === undefined ? [] : path.slice(path.indexOf(first));
};

/** Returns whether a turn is a recorded call; one that failed or was cancelled is not. */
export const isRecorded = ({ outcome }: Turn): boolean => outcome.status === "completed";

/** Converts a turn to a recorded call. */
export const sessionTurn = (turn: Turn): SessionTurn => {
  const { number, messages, usage, annotations = [] } = turn;
  const ask = askOf(turn);
  const inputs = fieldsOf(ask);
  const outputs = fieldsOf(toArray(messages).findLast(({ role }) => role === "assistant"));
  const metadata = withoutMarks(ask?.metadata ?? {});
  return frozenCopy({ number, inputs, outputs, usage, annotations, metadata });
};

/**
 * Scores a turn, by a reference value if there is one. Returns a number, or a boolean, which counts as 1 or 0. Null is
 * no score; a session counts it, and `undefined`, as 0.
 */
export type Metric<Turn, Reference = unknown> = (turn: Turn, reference: Reference) => Judged | Promise<Judged>;

type Judged = number | boolean | null | undefined;

export interface ScoreOptions<Gold = unknown> {
  /** The reference value that the metric compares each turn with. */
  readonly gold?: Gold;
  /**
   * The handling of a turn for which the metric throws or does not return a number. `zero`: it scores 0, and the error
   * is reported. `raise`: no turn is scored, and the error is thrown. Default `zero`.
   */
  readonly onMetricError?: "zero" | "raise";
}

/**
 * Scores turns, one after the other. Returns the scores in the order of the turns; nothing is journalled.
 *
 * @param report is called with a metric's error, because of which a turn scored 0.
 * @throws the metric's error if errors are raised; otherwise nothing.
 */
export const scoresOf = async <Inputs extends object, Result extends object, Gold>(
  turns: readonly SessionTurn<Inputs, Result>[],
  metric: Metric<SessionTurn<Inputs, Result>, Gold | undefined>,
  { gold, onMetricError = "zero" }: ScoreOptions<Gold>,
  report: (error: unknown, turn: number) => void,
): Promise<readonly number[]> => {
  const scores: number[] = [];
  for (const turn of turns) {
    try {
      const score = numberIn((await metric(turn, gold)) ?? 0);
      if (typeof score === "number") scores.push(score);
      else
        throw new TypeError(
          `the metric gave ${score.not} for turn ${turn.number}; a score is a finite number, or true or false`,
        );
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
export const scoreOf = ({ annotations }: Pick<SessionTurn, "annotations">): number | null =>
  annotatedScore(annotations, annotationName);

/** Returns the score in the newest annotation of a name: a number, or true for 1 and false for 0; null for no score. */
export const annotatedScore = (annotations: readonly Annotation[], name: string): number | null => {
  const score = numberIn(annotations.findLast((annotation) => annotation.name === name)?.value);
  return typeof score === "number" ? score : null;
};

/** The name of the annotations that contain scores. */
export const annotationName = "score";

/** Converts a score to a number, or returns a description of a value that is not a score. */
export const numberIn = (judged: unknown): number | { readonly not: string } => {
  if (typeof judged === "boolean") return Number(judged);
  if (typeof judged === "number") return Number.isFinite(judged) ? judged : { not: String(judged) };
  return { not: `a value of type ${typeof judged}` };
};
