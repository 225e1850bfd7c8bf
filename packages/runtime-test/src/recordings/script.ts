import type { Message, Phase, ReplyDraft, ReportedUsage, SeedDraft, SystemDraft } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import type { CanonicalCall } from "./canonical.ts";

/**
 * A recorded conversation as a replay performs it, whatever API it was had over: its beginning, what was said between
 * the model calls, the replies, and what all of that is compared with.
 */
export interface Script {
  readonly threadId: string;
  readonly system: SystemDraft | null;
  readonly seed: readonly SeedDraft[];
  readonly steps: readonly (Given | Reply)[];
  readonly end: Ending;
  /** Remarks for a reader about a passed replay. */
  readonly notes: readonly string[];
}

/** The draft of a message, or a description of why there is none. */
export type Drafted<Draft> = Either.Either<string, Draft>;

/** A message that came from anybody but the model. */
export interface Given {
  readonly type: "given";
  /** The index of the step in the recording; null before the first. */
  readonly index: number | null;
  readonly draft: Drafted<SeedDraft>;
  /** A user asks with it. Other messages were inserted by the client. */
  readonly asks: boolean;
  /** The name of the tool of a result, if the client named it. */
  readonly name?: string;
}

export interface Reply {
  readonly type: "reply";
  readonly index: number;
  /** Describes how a prompt differs from the recorded one; null if it does not. */
  readonly promptDifference: (messages: readonly Message[]) => string | null;
  readonly draft: Drafted<ReplyDraft>;
  readonly calls: readonly CanonicalCall[];
  readonly finishReason: string | null;
  readonly usage: ReportedUsage | undefined;
}

export interface Ending {
  /** Null if the recording does not say it. */
  readonly phase: Phase | null;
  /** Describes the recording in the difference of a phase. */
  readonly phaseOf: string;
  /** Why no thread ends as the recording does; null if one may. */
  readonly unfit: string | null;
  readonly messagesDifference: (messages: readonly Message[]) => string | null;
  /** Describes how a recording contradicts itself, before figures are compared with it. */
  readonly contradiction: string | null;
  readonly counts: readonly RecordedCount[];
  /** The recorded sum of each figure; undefined if unknown. */
  readonly usage: { readonly [Field in UsageField]: RecordedUsage };
  readonly finishReasons: readonly (string | null)[] | undefined;
  /** The roles of the messages that the run did not produce: of the seed, and those that the client inserted. */
  readonly given: readonly string[];
}

export type RecordedCount = readonly [
  what: string,
  figure: "llmCalls" | "toolCalls" | "toolResults" | "userMessages" | number,
  recorded: number,
];

export type UsageField = "inputTokens" | "outputTokens" | "totalTokens";

export interface RecordedUsage {
  /** The field's name in the API. */
  readonly name: string;
  readonly sum: unknown;
  /** How many calls reported it. */
  readonly reported: number;
}

/** The reason why a replay cannot continue. `inexpressible`: there is no event for the recorded behaviour. */
export interface Obstacle {
  readonly kind: "difference" | "inexpressible";
  /** The index of the step; null before the first and after the last. */
  readonly step: number | null;
  readonly words: string;
}

export const difference = (step: number | null, words: string): Obstacle => ({ kind: "difference", step, words });

export const inexpressible = (step: number | null, words: string): Obstacle => ({ kind: "inexpressible", step, words });

export const firstObstacle = <Value>(
  values: readonly Value[],
  obstacleOf: (value: Value) => Obstacle | null,
): Obstacle | null => {
  for (const value of values) {
    const obstacle = obstacleOf(value);
    if (obstacle !== null) return obstacle;
  }
  return null;
};
