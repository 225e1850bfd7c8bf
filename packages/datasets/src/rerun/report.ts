import type { Usage } from "@colloquy/machine";

/** Recorded conversations beside what became of them when they were asked again. Plain data. */
export interface RerunReport {
  readonly conversations: readonly RerunConversation[];
  /** Over all turns that were asked again, as they were recorded. */
  readonly before: RerunFigures;
  /** The same as they came out now. */
  readonly after: RerunFigures;
}

/** One conversation. */
export interface RerunConversation {
  readonly name: string;
  /** Why it could not be asked, or not to its end, in words; null where it could. */
  readonly problem: string | null;
  /** The turns in which something was asked, in order. */
  readonly turns: readonly RerunTurn[];
}

/** One recorded turn that was asked again. */
export interface RerunTurn {
  /** Its number in the recording. */
  readonly turn: number;
  readonly question: string;
  readonly before: RerunSide;
  readonly after: RerunSide;
  /** Both called the same tools in the same order, and ended with the same answer. */
  readonly same: boolean;
}

/** How a turn went. */
export interface RerunSide {
  readonly status: "completed" | "failed" | "cancelled";
  /** Why it was not completed; null where it was. */
  readonly why: string | null;
  /** The text of its last answer; "" for none. */
  readonly answer: string;
  readonly tools: readonly CalledTool[];
  /** Calls, tokens and cost; of a turn that was had elsewhere all is unknown. */
  readonly usage: Usage;
  /** What the metric says; null without one, where it failed, and of a turn that was not completed. */
  readonly score: number | null;
  /** Why the metric failed. */
  readonly metricFailed: string | null;
}

/** A tool call, by what a model wrote. */
export interface CalledTool {
  readonly name: string;
  readonly arguments: string;
}

/** One side over all turns. */
export interface RerunFigures {
  readonly turns: number;
  readonly completed: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** The mean of the scores that there are; null for none. */
  readonly score: number | null;
  readonly scored: number;
}
