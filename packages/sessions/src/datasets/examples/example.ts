import type { JsonObject, Message, ToolDeclaration } from "@colloquy/machine";

/** A prompt that a model received, and its reply: one row of training data. */
export interface Example {
  /** The name of its journal. */
  readonly thread: string;
  readonly turn: number;
  /** The number of the step in its turn, from 1. */
  readonly step: number;
  /** The prompt as sent at that step; for a turn that was added whole, all messages before the reply. */
  readonly prompt: readonly Message[];
  readonly reply: Message;
  /** The offered tools, in this order. */
  readonly tools: readonly ToolDeclaration[];
  /** The parameters of the call. */
  readonly model: JsonObject;
  /** Whether its turn is on the path of the thread: it was not undone or replaced by another branch. */
  readonly kept: boolean;
  /** The score of its turn; null if there is none. */
  readonly score: number | null;
  /** Null without a counter. */
  readonly tokens: ExampleTokens | null;
}

/** The tokens of an example by a counter, without the declarations of tools. */
export interface ExampleTokens {
  /** The tokens of prompt and reply, by the formula of OpenAI's cookbook. */
  readonly total: number;
  /** The tokens of the reply's content, which are trained. */
  readonly trained: number;
}

/** A reply that is preferred to another reply to the same prompt. */
export interface Pair {
  readonly chosen: Example;
  readonly rejected: Example;
}

/** A model call without an example, or an example without a row. */
export interface LeftOut {
  readonly thread: string;
  readonly turn: number;
  readonly step: number;
  readonly because: LeftOutBecause;
}

/**
 * The reason for leaving it out:
 *
 * - `open`: its turn has not ended. `failed`, `cancelled`: its turn failed or was cancelled.
 * - `interrupted`: the reply ended early. `truncated`: a limit or a filter cut it off, or it was shortened afterwards.
 * - `synthesised`: the machine made the reply, or a part of its turn's prompt. `recovered`: a crash lost something in
 * its turn.
 * - `refused`: the reply was not the requested output. `redacted`: content was redacted.
 * - `unrecorded`: the sent prompt differs from the journal.
 * - `copied`: the thread from which it was forked, or another fork, contains it (or has redacted it).
 * - `undone`: its turn is off the path. `score`: the score is missing or too low.
 * - `untrained`: it was imported with the mark not to train it. `empty`: a message that needs content is empty.
 * - `continues`: the prompt ends with an assistant message, which templates join with the reply.
 * - `content`: the format does not support one of its parts.
 */
export type LeftOutBecause =
  | "open"
  | "failed"
  | "cancelled"
  | "interrupted"
  | "truncated"
  | "synthesised"
  | "recovered"
  | "refused"
  | "redacted"
  | "unrecorded"
  | "copied"
  | "undone"
  | "score"
  | "untrained"
  | "empty"
  | "continues"
  | "content";
