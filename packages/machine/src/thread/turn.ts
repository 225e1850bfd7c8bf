import type { Chunks } from "./chunks.ts";
import type { Json, JsonObject } from "./plain-data.ts";
import type { Message } from "./message.ts";
import type { Usage } from "./usage.ts";

/**
 * One ask (or several) and everything that followed, to its end. Closed turns never change, except for annotations,
 * summaries and truncation.
 */
export interface Turn {
  /** From 1, in order of opening. Never reused, whatever is undone. */
  readonly number: number;
  /** The turn that it continues; 0 is the beginning of the thread. */
  readonly parent: number;
  readonly asks: readonly Ask[];
  readonly outcome: TurnOutcome;
  /** The messages, well-formed: each round is complete. */
  readonly messages: Chunks<Message>;
  readonly usage: Usage;
  /** The id of the message with which the model ended the turn, even if incomplete; absent if there is none. */
  readonly answer?: string;
  /** The number of model calls, without retries. */
  readonly steps: number;
  readonly toolCalls: number;
  /** In milliseconds since the epoch, from the events. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly metadata?: JsonObject;
  /** Summaries of this turn and of turns before it, in order of arrival. */
  readonly summaries?: readonly Summary[];
  /** The number of failed summaries that would have ended here; 0 if absent. */
  readonly summaryFailures?: number;
  /** The place on its path. */
  readonly place: TurnPlace;
  /** The accepted output, if the ask required one. */
  readonly output?: AcceptedOutput;
  /** Refused answers, in order. They are not among the messages, so later prompts do not show them. */
  readonly refusedOutputs?: readonly RefusedOutput[];
  /** Scores and notes, added afterwards. */
  readonly annotations?: readonly Annotation[];
}

/** The size of a path up to a turn, including the seed, so that the path need not be walked. */
export interface TurnPlace {
  /** The number of turns on the path up to this one, inclusive. */
  readonly turns: number;
  readonly messages: number;
  /** The characters of their texts, in UTF-16 units. */
  readonly characters: number;
  /** The turn from which the numbers on the path are consecutive up to this one. */
  readonly straightFrom: number;
}

export type TurnStatus = "open" | "completed" | "failed" | "cancelled";

/** The outcome of a turn. */
export type TurnOutcome =
  | {
      readonly status: "completed";
      /** The provider's reason why the last reply ended; null if it gave none, or if no model was called. */
      readonly finishReason: string | null;
    }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "failed"; readonly limit: LimitReached }
  | { readonly status: "failed"; readonly unfit: ContextUnfit }
  | { readonly status: "failed"; readonly output: OutputFailure }
  | { readonly status: "cancelled"; readonly reason: string | null };

/** The failure of a model call. */
export interface Failure {
  readonly kind: FailureKind;
  /** A text for a person. Contains no secret. */
  readonly message: string;
  /** True if a retry may help. */
  readonly retryable: boolean;
  /** The wait that the server asked for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The HTTP status, if there was one. */
  readonly status?: number;
  /** The provider's own code. */
  readonly code?: string;
}

/** `truncated`: the stream ended without a finish reason. `timeout`: no data came within the allowed time. */
export type FailureKind =
  | "rate_limit"
  | "overloaded"
  | "auth"
  | "bad_request"
  | "context_length"
  | "content_filter"
  | "timeout"
  | "network"
  | "truncated"
  | "unknown";

/** A limit that ended a turn before the next request. */
export interface LimitReached {
  readonly limit: LimitName;
  /** The allowed value. */
  readonly allowed: number;
  /** The value that was reached, or would have been. */
  readonly reached: number;
}

/** The required content takes more room than there is. All in tokens. */
export interface ContextUnfit {
  /** The size of the prompt. */
  readonly tokens: number;
  /** The room: the budget without its reserve, calibrated. */
  readonly available: number;
  readonly budget: number;
  readonly reserve: number;
  /** The part that no policy may leave out: the system message, the open turn, and pinned messages. */
  readonly fixed: number;
  /** The largest message of the open turn, and its size. */
  readonly largest: { readonly message: string; readonly tokens: number } | null;
}

/** `costNano` is in billionths of a currency, `deadlineMs` in milliseconds from the opening of the turn. */
export type LimitName = "steps" | "toolCalls" | "tokens" | "costNano" | "deadlineMs";

/** One ask that a turn answers. */
export interface Ask {
  readonly askId: string;
  readonly askedAt: number;
  /** The number of messages that it brought, if not one. */
  readonly messages?: number;
}

/** A note about a turn, such as a score or a label. */
export interface Annotation {
  readonly name: string;
  readonly value: Json;
  readonly at: number;
  readonly metadata?: JsonObject;
}

/**
 * A model's summary of consecutive turns. The last of them keeps it: if that turn is on the path, so are the others,
 * and the summary is valid.
 */
export interface Summary {
  /** From 1, in the order of requests. */
  readonly number: number;
  /** The first turn that it covers; 0 is the seed. The last is the turn that keeps it. */
  readonly from: number;
  readonly text: string;
  /** True if one of its turns was changed later. The summary is outdated and no longer shown. */
  readonly stale?: true;
}

/** The required form of a turn's answer: JSON that fits a schema. Plain JSON. */
export interface ExpectedOutput {
  /** The name of the output, for the model. */
  readonly name: string;
  /** The JSON Schema of the output. The host decides whether an answer fits, and may check more than the schema. */
  readonly schema: JsonObject;
  readonly mode: OutputMode;
  /** The number of times that the model may be asked again after an invalid answer. 0: never. */
  readonly repairs: number;
}

/**
 * The way to make a model write the output. `native`: by the provider's own feature. `tool`: as the arguments of a
 * tool that it must call. `prompted`: by instructions in the prompt only.
 */
export type OutputMode = "native" | "tool" | "prompted";

/** One error in an answer. */
export interface OutputIssue {
  /** Tells the model what to fix. */
  readonly message: string;
  /** The path in the answer; absent or empty for the whole answer. */
  readonly path?: readonly (string | number)[];
}

/** An invalid answer. Only the prompts of its own turn contain it. */
export interface RefusedOutput {
  readonly reply: Message;
  readonly issues: readonly OutputIssue[];
  /** The machine's message that asked the model again; absent if it was not asked again. */
  readonly request?: Message;
}

/** An accepted answer. */
export interface AcceptedOutput {
  readonly name: string;
  /** The value that the model wrote. */
  readonly value: Json;
}

/**
 * The reason why a turn has no output. `invalid`: no answer was valid, and no repairs were left. `unchecked`: the
 * check itself failed. `refused`: the model declined. `cut`: its reply ended early.
 */
export interface OutputFailure {
  readonly kind: "invalid" | "unchecked" | "refused" | "cut";
  /** A text for a person. */
  readonly message: string;
}
