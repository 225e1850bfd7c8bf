import type { JsonObject, Message, ToolDeclaration } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";

/**
 * Renders the messages of a prompt as a single string, for completion models. Pure: the same messages give the same
 * text. `name`, `version` and `options` identify it, as they do a policy.
 */
export interface Template {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** The ends of an answer, beside the model's own end token: texts with which the next speaker's turn would begin. */
  readonly stop: readonly string[];
  /**
   * The patterns of `stop` that a model may repeat before its answer, since the prompt ends with one; they are removed
   * there.
   */
  readonly opening: readonly string[];
  /** Returns the text, or (left) a sentence that says why the messages cannot be rendered. */
  readonly render: (messages: readonly Message[], options?: RenderOptions) => Either.Either<string, string>;
}

export interface RenderOptions {
  /** Replaces the leading system message for this call; without one, it comes first. */
  readonly system?: string;
  /** The tools that the model may call. */
  readonly tools?: readonly ToolDeclaration[];
  /** Ends the text with the beginning of the answer. Default true. */
  readonly addGenerationPrompt?: boolean;
  /** The time, in milliseconds since the epoch, for templates that show the date. */
  readonly at?: number;
}
