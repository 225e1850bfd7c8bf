import type { Json, JsonObject } from "./plain-data.ts";
import type { Message } from "./message.ts";

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
