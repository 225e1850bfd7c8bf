import type { Chunks } from "./chunks.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { AcceptedOutput, OutputFailure, RefusedOutput } from "./output.ts";
import type { Usage } from "./usage.ts";

/** One ask (or several) and all that followed, to its end. Closed turns never change, but for what is said about them. */
export interface Turn {
  /** From 1, in order of opening. Never used again, whatever is undone. */
  readonly number: number;
  /** The turn that it continues; 0 is the beginning of the thread. */
  readonly parent: number;
  readonly asks: readonly Ask[];
  readonly outcome: TurnOutcome;
  /** What was said, well-formed: each round is complete. */
  readonly messages: Chunks<Message>;
  readonly usage: Usage;
  /** The id of the message with which a model ended it, incomplete ones included; absent when there is none. */
  readonly answer?: string;
  /** Model calls that were begun, retries not counted. */
  readonly steps: number;
  readonly toolCalls: number;
  /** Milliseconds since the epoch, as the events said. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly metadata?: JsonObject;
  /** Summaries of this turn and of those before it, in the order in which they came. */
  readonly summaries?: readonly Summary[];
  /** How often a summary that was to end here failed; absent: never. */
  readonly summaryFailures?: number;
  /** Where it stands on its path. */
  readonly place: TurnPlace;
  /** What its answer was found to be, where the ask wanted one that fits a schema. */
  readonly output?: AcceptedOutput;
  /** Answers that did not fit, in order. They are none of its messages, so later prompts do not show them. */
  readonly refusedOutputs?: readonly RefusedOutput[];
  /** Scores and notes, added afterwards. */
  readonly annotations?: readonly Annotation[];
}

/** What a path comes to with a turn, the seed included, so that it need not be walked. */
export interface TurnPlace {
  /** Turns on the path up to this one, itself included. */
  readonly turns: number;
  readonly messages: number;
  /** Characters of their texts, in UTF-16 units. */
  readonly characters: number;
  /** From this turn to here the numbers on the path follow one another. */
  readonly straightFrom: number;
}

export type TurnStatus = "open" | "completed" | "failed" | "cancelled";

/** How a turn ended. */
export type TurnOutcome =
  | {
      readonly status: "completed";
      /** The provider's word for why the last reply ended; null when it gave none, or no model was called. */
      readonly finishReason: string | null;
    }
  | { readonly status: "failed"; readonly failure: Failure }
  | { readonly status: "failed"; readonly limit: LimitReached }
  | { readonly status: "failed"; readonly unfit: ContextUnfit }
  | { readonly status: "failed"; readonly output: OutputFailure }
  | { readonly status: "cancelled"; readonly reason: string | null };

/** What a model call failed with. */
export interface Failure {
  readonly kind: FailureKind;
  /** For a person to read. Holds no secret. */
  readonly message: string;
  /** Whether asking again may help. */
  readonly retryable: boolean;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The HTTP status, where there was one. */
  readonly status?: number;
  /** The provider's own code. */
  readonly code?: string;
}

/** `truncated`: the stream ended without saying why. `timeout`: nothing came for longer than was allowed. */
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

/** A limit that ended a turn before something was asked for. */
export interface LimitReached {
  readonly limit: LimitName;
  /** What was allowed. */
  readonly allowed: number;
  /** What it would have come to, or had come to. */
  readonly reached: number;
}

/** What had to be shown takes more room than there is. All in tokens. */
export interface ContextUnfit {
  /** What the prompt would have taken. */
  readonly tokens: number;
  /** What there was room for: the budget without its reserve, calibrated. */
  readonly available: number;
  readonly budget: number;
  readonly reserve: number;
  /** Of it, what no policy may leave out: the system message, the open turn, and what is pinned. */
  readonly fixed: number;
  /** The message of the open turn that takes the most, and how much. */
  readonly largest: { readonly message: string; readonly tokens: number } | null;
}

/** `costNano` in billionths of a currency, `deadlineMs` in milliseconds from the opening of the turn. */
export type LimitName = "steps" | "toolCalls" | "tokens" | "costNano" | "deadlineMs";

/** One ask that a turn answers. */
export interface Ask {
  readonly askId: string;
  readonly askedAt: number;
  /** How many messages it brought, where that is not one. States that 0.1 stored lack it. */
  readonly messages?: number;
}

/** Something said about a turn: a score, a label. */
export interface Annotation {
  readonly name: string;
  readonly value: Json;
  readonly at: number;
  readonly metadata?: JsonObject;
}

/**
 * What a model wrote about turns that follow one another. It is kept with the last of them: wherever that turn is
 * on the path, so are the others, and the summary holds.
 */
export interface Summary {
  /** From 1, in the order of asking. */
  readonly number: number;
  /** The first turn that it covers; 0 is the seed. Its last is the turn that keeps it. */
  readonly from: number;
  readonly text: string;
  /** One of its turns was changed since, so it is out of date, and is not shown any more. */
  readonly stale?: true;
}
