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
