import type {
  AskHandle,
  AskInput,
  AskOptions,
  AskPart,
  OutputOf,
  OutputSchema,
  Tool,
  WrittenOf,
  SchemaIssue,
  StandardSchema,
} from "@colloquy/host";
import type { SeedDraft, SystemDraft } from "@colloquy/machine";
import { type Fields, fieldsGiven } from "./exchange.ts";
import type { Memory } from "./memory.ts";

/**
 * A function from inputs to outputs, or an object with `forward`, such as an instance of a class. Both are called with
 * copies.
 */
export type Program<Inputs extends object, Outputs extends object> =
  | ProgramFunction<Inputs, Outputs>
  | { readonly forward: ProgramFunction<Inputs, Outputs> };

export type ProgramFunction<Inputs extends object, Outputs extends object> = (
  inputs: Inputs,
  context: ProgramContext,
) => Outputs | PromiseLike<Outputs>;

/** The context of a program's run, beside its inputs. */
export interface ProgramContext {
  readonly memory: Memory;
  /** Aborted when the outputs are no longer wanted. */
  readonly signal: AbortSignal;
  /** The thread that records this call; null if none does. */
  readonly threadId: string | null;
  /** The number of this call's turn; null if it has none. */
  readonly turn: number | null;
  /** The name of this call; the same when it is repeated after a crash. */
  readonly callId: string;
  /** Shows a progress message to the readers of the call. */
  readonly status: (text: string) => void;
  /** Shows the outputs so far to the readers of the call. */
  readonly partial: (outputs: object) => void;
  /**
   * Calls a model on a separate thread that hangs from this turn. Its usage counts as the turn's, and its parts are
   * parts of the call. Its id is derived from this call, the name, the input, and the number of equal asks before it.
   * So a program that runs again after a crash gets the journalled answers, and calls no model twice. The session needs
   * the option `llm`.
   *
   * @param name of the call, for the trace.
   */
  readonly ask: <Schema extends OutputSchema = never>(
    name: string,
    input: AskInput,
    options?: NestedAskOptions<Schema>,
  ) => AskHandle<OutputOf<Schema>, WrittenOf<Schema>>;
}

export interface NestedAskOptions<Schema extends OutputSchema = never> extends Pick<
  AskOptions<Schema>,
  "model" | "limits" | "signal" | "metadata" | "toolContext" | "output"
> {
  readonly system?: SystemDraft;
  /** Messages before the input, such as those of a memory. */
  readonly seed?: readonly SeedDraft[];
  /** Replaces the session's tools. Pass the same array each time, because a host is made for each array. */
  readonly tools?: readonly Tool[];
}

/** An event in the progress of a call, in order. */
export type CallPart =
  | AskPart
  /** A progress message of the program. */
  | { readonly type: "status"; readonly text: string }
  /** Outputs so far. They are checked only when they are complete. */
  | { readonly type: "partial"; readonly outputs: Fields }
  /** A part of a nested call of a model, or of another program. */
  | { readonly type: "nested"; readonly name: string; readonly threadId: string | null; readonly part: CallPart };

/** Returns the function of a program. */
export const functionOf = <Inputs extends object, Outputs extends object>(
  program: Program<Inputs, Outputs>,
): ProgramFunction<Inputs, Outputs> =>
  typeof program === "function" ? program : (inputs, context) => program.forward(inputs, context);

/** The inputs and outputs of a program, each a Standard Schema, as of zod, valibot, arktype and others. */
export interface Signature<Given extends object, Inputs extends object, Outputs extends object, Result extends object> {
  readonly inputs: StandardSchema<Given, Inputs>;
  readonly outputs: StandardSchema<Outputs, Result>;
}

/** The inputs or outputs of a program do not match its signature. */
export class SignatureError extends TypeError {
  override readonly name = "SignatureError";
  readonly issues: readonly SchemaIssue[];

  constructor(what: string, issues: readonly SchemaIssue[]) {
    super(`${what} do not fit its signature: ${issues.map(inWords).join("; ")}`);
    this.issues = issues;
  }
}

/**
 * Validates a value by a schema, and returns the result as plain JSON, for the thread. Without a schema, returns the
 * value. It is copied at once, so that later changes by its owner have no effect.
 *
 * @param what names the value: `the inputs of "qa"`.
 * @throws SignatureError if it does not match, TypeError if a journal cannot contain it
 */
export const validated = async (
  what: string,
  schema: StandardSchema<never, object> | StandardSchema<object, object> | undefined,
  given: unknown,
): Promise<Fields> => {
  if (schema === undefined) return fieldsGiven(what, given);
  const result = await schema["~standard"].validate(copyOf(given));
  if (result.issues !== undefined) throw new SignatureError(what, result.issues);
  return fieldsGiven(what, result.value);
};

/** Returns the fields of a schema that allows no others; null for any other schema. */
export const fieldsNamedBy = (
  schema: StandardSchema<never, object> | StandardSchema<object, object> | undefined,
): readonly string[] | null => {
  try {
    const said = schema?.["~standard"].jsonSchema?.output?.({ target: "draft-2020-12" });
    const { properties, additionalProperties } = said ?? {};
    return additionalProperties === false && typeof properties === "object" ? Object.keys(properties ?? {}) : null;
  } catch {
    // The output of a transformation has no JSON Schema.
    return null;
  }
};

/** Returns a copy; a value that cannot be copied is left for the schema to judge. */
const copyOf = (given: unknown): unknown => {
  try {
    return structuredClone(given);
  } catch {
    return given;
  }
};

const inWords = ({ message, path = [] }: SchemaIssue): string => {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return keys.length === 0 ? message : `"${keys.join(".")}": ${message}`;
};
