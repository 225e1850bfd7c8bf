import type { JsonObject, Message, Phase, ReplyDraft, SeedDraft, SystemDraft } from "@colloquy/machine";

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

/** A message that came from anybody but the model. */
export interface Given {
  readonly type: "given";
  /** The index of the step in the recording; null before the first. */
  readonly index: number | null;
  /** @throws Obstacle if no message can express it */
  readonly draft: () => SeedDraft;
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
  /** @throws Obstacle if no reply can express it */
  readonly draft: () => ReplyDraft;
  readonly finishReason: string | null;
  readonly usage: JsonObject | null | undefined;
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
  /** The recorded sums; null if unknown. */
  readonly usage: JsonObject | null;
  /** The API's names of the figures of usage. */
  readonly usageNames: { readonly [Field in UsageField]: string };
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

/** The reason why a replay cannot continue. Thrown inside this folder only. */
export class Obstacle extends Error {
  readonly kind: "difference" | "inexpressible";
  /** The index of the step; null before the first and after the last. */
  readonly step: number | null;

  constructor(kind: Obstacle["kind"], step: number | null, words: string) {
    super(words);
    this.kind = kind;
    this.step = step;
  }
}

export const difference = (step: number | null, words: string): Obstacle => new Obstacle("difference", step, words);

/** There is no event for the recorded behaviour. */
export const inexpressible = (step: number | null, words: string): Obstacle =>
  new Obstacle("inexpressible", step, words);
