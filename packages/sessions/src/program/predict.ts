import { type AskPart, type CompletedTurn, type StandardSchema, strictProblems, type Tool } from "@colloquy/host";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import {
  ConfigurationError,
  type Limits,
  type OutputMode,
  type ContentPart,
  type Message,
  type SeedDraft,
  textOf,
} from "@colloquy/machine";
import { partsOf, fieldsOf } from "./exchange.ts";
import { type ProgramContext, type ProgramFunction, validated } from "./program.ts";
import { type Memory, isToolUse } from "./memory.ts";

/** A program that consists of its inputs, its outputs, and instructions for a model. */
export interface PredictOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> {
  /** The inputs, checked before a model is called: a Standard Schema of an object. */
  readonly inputs: StandardSchema<Given, Inputs>;
  /**
   * The outputs: a Standard Schema of an object, with a JSON Schema (`withJsonSchema` adds one to a schema that has
   * none).
   */
  readonly outputs: StandardSchema<Outputs, Result>;
  /** The instructions for the model. Default: to answer with the outputs. */
  readonly instructions?: string;
  /** The name of the model call in traces. Default `predict`. */
  readonly name?: string;
  /** The way in which the model is made to answer in that form, as for an ask. Default `native`. */
  readonly mode?: OutputMode;
  /** The number of repairs, each of which asks again after an answer that does not match. Default 2. */
  readonly repairs?: number;
  /** Limits of the model call, such as its steps and its usage. */
  readonly limits?: Limits;
}

/**
 * Makes a program that asks a model for its outputs. The session's memory is the conversation so far, and the inputs
 * are the user's message. The outputs are validated. While the model writes, the outputs so far are shown as `partial`
 * parts of the call. The session needs the option `llm`.
 *
 * It rejects with `SignatureError` for inputs that do not match, and with the errors of asking: `OutputError` if the
 * model gave no valid outputs.
 *
 * @throws ConfigurationError for options that are missing or unknown, and for outputs that the mode does not support,
 * with their path
 */
export const predict = <Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  options: PredictOptions<Given, Inputs, Outputs, Result>,
): ProgramFunction<Given, Result> => {
  checkOptions("predict", options, predictOptionKinds);
  return asking({ name: "predict", ...options });
};

/** A program that reasons with tools before it answers. */
export interface ReactOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> extends PredictOptions<Given, Inputs, Outputs, Result> {
  /** The tools for the model, within the `limits`. */
  readonly tools: readonly Tool[];
}

/**
 * Makes a program like `predict`, with tools: the model uses them, step by step, until it answers with the outputs.
 * Each step is journalled in a separate thread. Approvals, recovery and concurrency of tools work as in any ask. If
 * `limits` name no steps, ten are allowed.
 */
export const react = <Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  options: ReactOptions<Given, Inputs, Outputs, Result>,
): ProgramFunction<Given, Result> => {
  checkOptions("react", options, { ...predictOptionKinds, tools: kinds.needed(kinds.tools) });
  return asking({ name: "react", ...options, limits: { steps: 10, ...options.limits } });
};

const predictOptionKinds: OptionKinds<PredictOptions<never, never, never, never>> = {
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
      // The check before has found an object.
      Object.values(value as object).every((each: unknown) => each === undefined || kinds.whole(0).fits(each)),
  ),
};

/**
 * Makes the program of `predict` or `react`.
 *
 * @throws ConfigurationError for a schema that the mode does not support
 */
const asking = <Given extends object, Inputs extends object, Outputs extends object, Result extends object>({
  inputs,
  outputs,
  instructions = "Answer with the outputs, as JSON.",
  name,
  mode = "native",
  repairs = 2,
  limits = {},
  tools,
}: AskingOptions & PredictOptions<Given, Inputs, Outputs, Result>): ProgramFunction<Given, Result> => {
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
    // The compiler cannot infer this through the schema's type parameters: there is an output, and the schema returned
    // it.
    const { output } = (await handle) as CompletedTurn & { readonly output: Result };
    await shown;
    return output;
  };
};

/**
 * Describes why the native mode does not support a schema; null if it does. The ask refuses a schema that has no JSON
 * Schema.
 */
const problemOf = ({ "~standard": { jsonSchema } }: StandardSchema<object, object>): string | null => {
  const [first] = jsonSchema === undefined ? [] : strictProblems(jsonSchema.input({ target: "draft-2020-12" }));
  if (first === undefined) return null;
  return `outputs${first.path === "" ? "" : ` at "${first.path}"`}: ${first.reason}; or use mode "tool" or "prompted"`;
};

interface AskingOptions {
  readonly name: string;
  readonly tools?: readonly Tool[];
}

/** Shows outputs as they arrive; only the awaiting caller sees the outcome of the call. */
const showPartials = async (handle: AsyncIterable<AskPart<object>>, context: ProgramContext): Promise<void> => {
  try {
    for await (const part of handle) if (part.type === "output.partial") context.partial(part.value);
  } catch {}
};

/** Returns the system prompt of a call: the instructions, and the consolidated memory of earlier episodes. */
const systemOf = (instructions: string, { messages }: Memory): string =>
  [instructions, ...messages.filter(isSystem).map(textOf)].join("\n\n");

/**
 * Converts a memory to the conversation before a call. Answers are the JSON that the model is to write, or the
 * description that replaces them.
 */
const seedOf = ({ messages }: Memory): readonly SeedDraft[] =>
  messages
    .filter((message) => !isSystem(message))
    .map((message) =>
      message.role === "assistant"
        ? { role: "assistant", content: answerOf(message) }
        : { role: "user", content: message.parts.filter(isContent) },
    );

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

const answerOf = (message: Message): string => {
  const said = textOf(message);
  if (said !== "" && !isToolUse(said)) return said;
  const outputs = JSON.stringify(fieldsOf(message));
  return said === "" ? outputs : `${said}\n${outputs}`;
};

const isContent = (part: Message["parts"][number]): part is ContentPart =>
  part.type === "text" || part.type === "data" || part.type === "image" || part.type === "opaque";
