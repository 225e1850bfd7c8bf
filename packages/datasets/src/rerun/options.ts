import type { Clock, LlmHandler } from "@colloquy/host";
import type { JsonObject, MachineOptions, SystemDraft } from "@colloquy/machine";
import type { CalledTool } from "./report.ts";

/** How recorded conversations are asked again. */
export interface RerunOptions {
  /** The model that is asked. */
  readonly llm: LlmHandler;
  readonly clock: Clock;
  /** The policy, the budget, the tools, the pricing and so on. Default: all defaults, without tools. */
  readonly machine?: MachineOptions;
  /** The system prompt; null for none. Default: that of each recorded turn. */
  readonly system?: SystemDraft | null;
  /** Laid over the parameters of each recorded thread. */
  readonly model?: JsonObject;
  /**
   * What stands before a question. `recorded`: the turns as they were recorded, so that each answer is to the same
   * conversation as the recorded one. `own`: the answers that were given this time, as if the user had gone on asking the same.
   * Default `recorded`.
   */
  readonly history?: "recorded" | "own";
  /** Scores each answer, the recorded ones too. */
  readonly metric?: Metric;
  /** How many conversations are asked at a time. Default 4. */
  readonly concurrency?: number;
  /** Ends it: what was not asked yet is not asked. */
  readonly signal?: AbortSignal;
}

/** How good an answer is: a number, true for 1, false for 0, or null where that can't be said. `recorded` is how the same turn went then. What it throws is noted with the turn. */
export type Metric = (said: SaidTurn, recorded: SaidTurn) => number | boolean | null | Promise<number | boolean | null>;

/** A turn as a metric sees it. */
export interface SaidTurn {
  readonly question: string;
  readonly answer: string;
  readonly tools: readonly CalledTool[];
}
