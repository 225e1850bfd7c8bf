import type { ExpectedOutput, Json, OutputMode } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { kinds, type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";
import { messageOf } from "../boundary/thrown.ts";
import { problemOfSchema } from "../tools/schema-problem.ts";
import type { StandardSchema } from "../tools/schema.ts";
import { parametersOf, schemaKind, type ToolInput } from "../tools/tool.ts";
import { isObjectSchema, strictProblems } from "./strict.ts";

/** The output that the answer to an ask must have. */
export interface OutputOptions<Schema extends OutputSchema = OutputSchema> {
  /** A Standard Schema with a JSON Schema (`withJsonSchema` adds one), or a JSON Schema alone. */
  readonly schema: Schema;
  /** The name that the model reads: letters, digits, `_` and `-`, up to 64. */
  readonly name: string;
  /**
   * `native`: by the provider's own structured outputs, which support only some schemas: see `strictProblems`. `tool`:
   * as the arguments of a tool that the model must call. `prompted`: by an instruction alone, for any model. Default
   * `native`.
   */
  readonly mode?: OutputMode;
  /**
   * How often the model is asked again because its answer did not fit. Each repair is a step, and counts against the
   * limits. Default 2.
   */
  readonly repairs?: number;
}

export type OutputSchema = ToolInput;

/**
 * The type of the result's `output`: the schema's output for the answer. A plain JSON Schema has no static type.
 * Without a schema it is undefined.
 */
export type OutputOf<Schema extends OutputSchema> = [Schema] extends [never]
  ? undefined
  : Schema extends StandardSchema
    ? NonNullable<Schema["~standard"]["types"]>["output"]
    : Json;

/** The type that the model writes: the schema's input. */
export type WrittenOf<Schema extends OutputSchema> = [Schema] extends [never]
  ? undefined
  : Schema extends StandardSchema
    ? NonNullable<Schema["~standard"]["types"]>["input"]
    : Json;

/** The output that an ask wants, as the machine gets it, with its validator on this host. */
export interface WantedOutput {
  readonly expected: ExpectedOutput;
  readonly schema: StandardSchema | null;
}

/** Returns the output that options describe, or why no answer could fit them. */
export const wantedOutput = (options: OutputOptions): Either.Either<string, WantedOutput> => {
  const problem = problemOfWrapping(options) ?? problemOfOptions("ask: output", options, outputOptionKinds);
  if (problem !== null) return Either.left(problem);
  const { schema, name, mode = "native", repairs = 2 } = options;
  try {
    const expected = {
      name,
      schema: parametersOf(`output "${name}"`, schema),
      mode,
      repairs,
    };
    const unchecked = "jsonSchema" in schema ? problemOfSchema(expected.schema) : null;
    if (unchecked !== null) return Either.left(`ask: output.schema.jsonSchema: ${unchecked}`);
    if (mode === "tool" && !isObjectSchema(expected.schema))
      return Either.left(
        `output "${name}" is not what mode "tool" takes: the root must be an object; put what it is into a member`,
      );
    const [first, ...others] = mode === "native" ? strictProblems(expected.schema) : [];
    if (first === undefined) return Either.right({ expected, schema: "jsonSchema" in schema ? null : schema });
    const more = others.length === 0 ? "" : ` (and ${others.length} more: strictProblems lists them)`;
    return Either.left(
      `output "${name}" is not what mode "native" takes: ${first.path === "" ? "" : `${first.path}: `}${first.reason}${more}. Change the schema, or use mode "tool" or "prompted"`,
    );
  } catch (thrown) {
    return Either.left(messageOf(thrown));
  }
};

/** Returns the problem of a schema in place of the options; null if there is none. */
const problemOfWrapping = (options: OutputOptions): string | null =>
  schemaKind.fits(options) && !Object.hasOwn(options, "schema")
    ? `ask: output is a schema by itself; give it as { schema${"jsonSchema" in options ? ": { jsonSchema }" : ""}, name }`
    : null;

const outputOptionKinds: OptionKinds<OutputOptions> = {
  schema: kinds.needed(schemaKind),
  name: kinds.needed(
    kinds.word('1 to 64 letters, digits, "_" or "-"', (name) => typeof name === "string" && /^[\w-]{1,64}$/.test(name)),
  ),
  mode: kinds.oneOf("native", "tool", "prompted"),
  repairs: kinds.whole(0),
};
