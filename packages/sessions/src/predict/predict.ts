import { type AskPart, type CompletedTurn, type StandardSchema, strictProblems, type Tool } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError, type Limits, type OutputMode } from "@colloquy/machine";
import { partsOf } from "../program/fields.ts";
import type { ProgramContext, ProgramFunction } from "../program/program.ts";
import { validated } from "../program/signature.ts";
import { seedOf, systemOf } from "./prompt.ts";

/** A program that is nothing but what goes in, what comes out, and what a model is to make of it. */
export interface PredictOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> {
  /** What goes in, checked before a model is called: a Standard Schema of an object. */
  readonly inputs: StandardSchema<Given, Inputs>;
  /** The outputs: a Standard Schema of an object, with a JSON Schema (`withJsonSchema` gives one to a schema that has none). */
  readonly outputs: StandardSchema<Outputs, Result>;
  /** For the model. Default: to answer with the outputs. */
  readonly instructions?: string;
  /** Of the call of the model, in traces. Default `predict`. */
  readonly name?: string;
  /** How the model is made to answer in that form, as for an ask. Default `native`. */
  readonly mode?: OutputMode;
  /** How often it is asked again because its answer did not fit. Default 2. */
  readonly repairs?: number;
  /** Of the call of the model, its steps and what they use. */
  readonly limits?: Limits;
}

/**
 * A program that asks a model for its outputs: with what the session remembers as the conversation so far, and the inputs as
 * what the user says. What comes out has been validated. While the model writes, the outputs so far are shown as `partial`
 * parts of the call. The session needs the option `llm`.
 *
 * It rejects with `SignatureError` for inputs that do not fit, and with what asking rejects with: `OutputError` where the
 * model did not come to outputs that fit.
 *
 * @throws ConfigurationError for options that are missing or unknown, and for outputs that the mode does not take, with
 *   their place
 */
export const predict = <Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  options: PredictOptions<Given, Inputs, Outputs, Result>,
): ProgramFunction<Given, Result> => {
  checkOptions("predict", options, predictOptionKinds);
  return asking({ name: "predict", ...options });
};

/** The options that `predict` and `react` share. */
export const predictOptionKinds: OptionKinds<PredictOptions<never, never, never, never>> = {
  inputs: kinds.needed(kinds.schema),
  outputs: kinds.needed(kinds.schema),
  instructions: kinds.anyText,
  name: kinds.text,
  mode: kinds.oneOf("native", "tool", "prompted"),
  repairs: kinds.whole(0),
  limits: kinds.of(
    "an object of limits, each a whole number ≥ 0",
    (value) =>
      kinds.object.fits(value) &&
      // It has just been found to be one.
      Object.values(value as object).every((each: unknown) => each === undefined || kinds.whole(0).fits(each)),
  ),
};

/** What `predict` and `react` share. @throws ConfigurationError for a schema that the mode does not take */
export const asking = <Given extends object, Inputs extends object, Outputs extends object, Result extends object>({
  inputs,
  outputs,
  instructions = "Answer with the outputs, as JSON.",
  name,
  mode = "native",
  repairs = 2,
  limits = {},
  tools,
}: AskingOptions<Given, Inputs, Outputs, Result>): ProgramFunction<Given, Result> => {
  const problem = mode === "native" ? problemOf(outputs) : null;
  if (problem !== null) throw new ConfigurationError(`${name}: ${problem}`);
  return async (given, context) => {
    const fields = await validated(`the inputs of "${name}"`, inputs, given);
    const handle = context.ask(name, partsOf(fields), {
      system: systemOf(instructions, context.memory),
      seed: seedOf(context.memory),
      output: { schema: outputs, name: "outputs", mode, repairs },
      limits,
      ...(tools === undefined ? {} : { tools }),
    });
    const shown = showPartials(handle, context);
    // The compiler can't see it through the schema's type parameters: there is an output, and it is what the schema gives.
    const { output } = (await handle) as CompletedTurn & { readonly output: Result };
    await shown;
    return output;
  };
};

/** Why the native mode does not take a schema, in words. One that can't say itself as JSON Schema is refused by the ask. */
const problemOf = ({ "~standard": { jsonSchema } }: StandardSchema<object, object>): string | null => {
  const [first] = jsonSchema === undefined ? [] : strictProblems(jsonSchema.input({ target: "draft-2020-12" }));
  if (first === undefined) return null;
  return `outputs${first.path === "" ? "" : ` at "${first.path}"`}: ${first.reason}; or use mode "tool" or "prompted"`;
};

interface AskingOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> extends PredictOptions<Given, Inputs, Outputs, Result> {
  readonly name: string;
  readonly tools?: readonly Tool[];
}

/** Shows outputs as they come; how the call ends is for whoever awaits it. */
const showPartials = async (handle: AsyncIterable<AskPart<object>>, context: ProgramContext): Promise<void> => {
  try {
    for await (const part of handle) if (part.type === "output.partial") context.partial(part.value);
  } catch {}
};
