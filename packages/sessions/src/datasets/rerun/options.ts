import type { Clock, LlmHandler } from "@colloquy/host";
import type { JsonObject, MachineOptions, SystemDraft } from "@colloquy/machine";
import type { Metric } from "../../turns/score.ts";
import type { CalledTool } from "./report.ts";

export interface RerunOptions {
  readonly llm: LlmHandler;
  readonly clock: Clock;
  /** The policy, the budget, the tools, the pricing and other options. Default: all defaults, without tools. */
  readonly machine?: MachineOptions;
  /** The system prompt; null for none. Default: that of each recorded turn. */
  readonly system?: SystemDraft | null;
  /** Parameters that override those of each recorded thread. */
  readonly model?: JsonObject;
  /**
   * The history before a question. `recorded`: the recorded turns, so that each answer is to the same conversation as
   * the recorded one. `own`: the new answers, as if the user had asked the same questions. Default `recorded`.
   */
  readonly history?: "recorded" | "own";
  /**
   * Scores each answer, including the recorded ones. The reference is the recorded version of the same turn. An error
   * is stored with the turn.
   */
  readonly metric?: Metric<SaidTurn, SaidTurn>;
  /** The number of conversations to ask at a time. Default 4. */
  readonly concurrency?: number;
  /** Stops the run; remaining questions are not asked. */
  readonly signal?: AbortSignal;
}

/** A turn in the form for metrics. */
export interface SaidTurn {
  readonly question: string;
  readonly answer: string;
  readonly tools: readonly CalledTool[];
}
