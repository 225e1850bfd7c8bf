import type { Usage } from "@colloquy/machine";

/** Recorded conversations beside their new runs. Plain data. */
export interface RerunReport {
  readonly conversations: readonly RerunConversation[];
  /** The recorded figures of all turns that were asked again. */
  readonly before: RerunFigures;
  /** The new figures of the same turns. */
  readonly after: RerunFigures;
}

export interface RerunConversation {
  readonly name: string;
  /** A description of why it could not be asked, or not to its end; null if it could. */
  readonly problem: string | null;
  /** The turns with a question, in order. */
  readonly turns: readonly RerunTurn[];
}

export interface RerunTurn {
  /** Its number in the recording. */
  readonly turn: number;
  readonly question: string;
  readonly before: RerunSide;
  readonly after: RerunSide;
  /** Whether both called the same tools in the same order, and gave the same answer. */
  readonly same: boolean;
}

/** One version of a turn. */
export interface RerunSide {
  readonly status: "completed" | "failed" | "cancelled";
  /** Why it did not complete; null if it did. */
  readonly why: string | null;
  /** The text of its last answer; "" for none. */
  readonly answer: string;
  readonly tools: readonly CalledTool[];
  /** Calls, tokens and cost; for a turn from elsewhere, all are unknown. */
  readonly usage: Usage;
  /** The metric's score; null without a metric, if it failed, and for a turn that did not complete. */
  readonly score: number | null;
  readonly metricFailed: string | null;
}

/** A tool call as a model wrote it. */
export interface CalledTool {
  readonly name: string;
  readonly arguments: string;
}

/** The figures of one version of all turns. */
export interface RerunFigures {
  readonly turns: number;
  readonly completed: number;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** The mean of the existing scores; null if there are none. */
  readonly score: number | null;
  readonly scored: number;
}
