import type { JsonObject, Message, ToolDeclaration } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";

/**
 * Renders the messages of a prompt as the one text that a completion model goes on with. Pure: the same messages give
 * the same text. `name`, `version` and `options` identify it, as they do a policy.
 */
export interface Template {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** Where an answer ends, beside the model's own end: texts with which somebody's next turn would begin. */
  readonly stop: readonly string[];
  /** Those of `stop` that a model may write before its answer, since the prompt ends with one: there they are left out. */
  readonly opening: readonly string[];
  /** Right: the text. Left: a sentence, why the messages can't be rendered. */
  readonly render: (messages: readonly Message[], options?: RenderOptions) => Either.Either<string, string>;
}

export interface RenderOptions {
  /** Stands, for this time, in place of the system message that leads, or before all where there is none. */
  readonly system?: string;
  /** What the model may call. */
  readonly tools?: readonly ToolDeclaration[];
  /** Ends the text where the answer begins. Default true. */
  readonly addGenerationPrompt?: boolean;
  /** The time, in milliseconds since the epoch, for templates that say the date. */
  readonly at?: number;
}
