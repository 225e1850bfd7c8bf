import type { JsonObject, Message, ToolDeclaration } from "@colloquy/machine";

/** What a model was shown once, and what it replied: one row of training data. */
export interface Example {
  /** The name of the journal that it is from. */
  readonly thread: string;
  readonly turn: number;
  /** From 1 in its turn. */
  readonly step: number;
  /** The prompt as it was sent at that step; of a turn that was added whole, all that stood before the reply. */
  readonly prompt: readonly Message[];
  readonly reply: Message;
  /** The tools that the model was offered, in this order. */
  readonly tools: readonly ToolDeclaration[];
  /** The parameters of the call. */
  readonly model: JsonObject;
  /** Its turn is on the path of the thread: it was not undone, and no other branch was taken in its place. */
  readonly kept: boolean;
  /** What its turn was scored with; null for no score. */
  readonly score: number | null;
  /** Null without a counter. */
  readonly tokens: ExampleTokens | null;
}

/** What an example takes, as a counter counts it; declarations of tools are not counted. */
export interface ExampleTokens {
  /** Of prompt and reply, by the formula of OpenAI's cookbook. */
  readonly total: number;
  /** Of them, what the reply itself says: what is trained. */
  readonly trained: number;
}

/** A reply that is preferred to another one to the same prompt. */
export interface Pair {
  readonly chosen: Example;
  readonly rejected: Example;
}

/** A model call that gave no example, or an example that gave no row. */
export interface LeftOut {
  readonly thread: string;
  readonly turn: number;
  readonly step: number;
  readonly because: LeftOutBecause;
}

/**
 * `open`: its turn has not ended. `failed`, `cancelled`: its turn was. `interrupted`: the reply ended early. `truncated`: it
 * was cut off by a limit or a filter, or shortened afterwards. `synthesised`: the machine made the reply, or
 * something in its turn that the model was shown. `recovered`: a crash swallowed something in its turn. `refused`: the
 * reply was not the output that was asked for. `redacted`: words were taken out. `unrecorded`: something else was sent than the
 * journal says. `copied`: the thread that it was copied from, or another copy, gives it (or has it redacted). `undone`: its turn is off the path. `score`:
 * the score is missing or too low. `untrained`: it was imported as one that is not to be trained. `empty`: a message that
 * has to say something says nothing. `continues`: the prompt ends with a message of an assistant, which templates join with the
 * reply. `content`: the format has no place for a part of it.
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
