import type { Json, JsonObject } from "./json.ts";
import type { Message } from "./message.ts";

/** What the answer of a turn has to be: JSON that fits a schema. Plain JSON. */
export interface ExpectedOutput {
  /** What it is called, for the model. */
  readonly name: string;
  /** JSON Schema of what the model is to write. Whether an answer fits is for the host to say, which may know more. */
  readonly schema: JsonObject;
  readonly mode: OutputMode;
  /** How often the model may be asked again because its answer did not fit. 0: never. */
  readonly repairs: number;
}

/**
 * How a model is brought to write it. `native`: by the provider's own means. `tool`: as the arguments of a tool that it has to
 * call. `prompted`: by words alone.
 */
export type OutputMode = "native" | "tool" | "prompted";

/** Something that an answer gets wrong. */
export interface OutputIssue {
  /** For the model, which is to mend it. */
  readonly message: string;
  /** Where in the answer; absent or empty for the whole of it. */
  readonly path?: readonly (string | number)[];
}

/** An answer that did not fit. It stands in the prompts of its own turn only. */
export interface RefusedOutput {
  readonly reply: Message;
  readonly issues: readonly OutputIssue[];
  /** With which the model was asked again, in the machine's own words; absent where it was not. */
  readonly request?: Message;
}

/** An answer that was found to fit. */
export interface AcceptedOutput {
  readonly name: string;
  /** As the model wrote it. */
  readonly value: Json;
}

/**
 * Why a turn has no output. `invalid`: no answer fitted, and no repairs were left. `unchecked`: the check of an answer failed
 * itself. `refused`: the model declined. `cut`: its reply ended early.
 */
export interface OutputFailure {
  readonly kind: "invalid" | "unchecked" | "refused" | "cut";
  /** For a person. */
  readonly message: string;
}
