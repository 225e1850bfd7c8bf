import {
  type JsonObject,
  type State,
  type ToolDeclaration,
  type ToolRecovery,
  ConfigurationError,
  type CallerTool,
} from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import {
  checkOptions,
  kinds,
  type OptionKind,
  type OptionKinds,
  problemOfOptions,
  isTool,
} from "../boundary/option-kinds.ts";
import { messageOf } from "../boundary/thrown.ts";
import { problemOfSchema } from "./schema-problem.ts";
import type { StandardSchema } from "./schema.ts";

/** A tool: its declaration for the machine and the model, and its function. Made by `tool`. */
export interface Tool {
  readonly declaration: ToolDeclaration & { readonly parameters: JsonObject };
  /** Null if arguments are checked against `declaration.parameters`. */
  readonly schema: StandardSchema | null;
  /** Returns whether a call needs an approval, for a tool that is declared `conditional`; null for any other. */
  readonly needsApproval: ((input: unknown, call: ToolCall) => boolean | Promise<boolean>) | null;
  readonly run: (input: unknown, call: ToolCall) => unknown;
}

/** The definition from which a tool is made. */
export interface ToolDefinition<Input extends ToolInput> {
  readonly name: string;
  /** Tells the model what the tool does, and when to call it. */
  readonly description: string;
  /** The version of the function's behaviour: change it when the function does something else. */
  readonly version?: string;
  /**
   * The schema of its arguments: a Standard Schema with a JSON Schema for the model (`withJsonSchema` adds one), or a
   * JSON Schema alone.
   */
  readonly input: Input;
  /** The handling of a call that was in progress when the process died. Default `interrupted`. */
  readonly recovery?: ToolRecovery;
  /**
   * Whether a call needs an approval before it runs: each call, or those for which the function does not return
   * `false`. The function is called with validated arguments, and should have no side effects. Default: none.
   */
  readonly approval?: "always" | ((input: InputOf<Input>, call: ToolCall) => boolean | Promise<boolean>);
  /** The longest run, in milliseconds; then its signal is aborted. Default: no limit. */
  readonly timeoutMs?: number;
  /** How many calls may run at the same time in one host. Default: all. */
  readonly concurrency?: number;
  /**
   * Runs the tool. The model reads the returned value, or that of a promise: a string unchanged, content parts as they
   * are, anything else as JSON. If it throws, the model reads a failure with the error's message.
   */
  readonly run: (input: InputOf<Input>, call: ToolCall) => unknown;
}

export type ToolInput = StandardSchema | { readonly jsonSchema: JsonObject };

/** The input of `run`: the schema's output for the arguments. A plain JSON Schema has no static type. */
export type InputOf<Input extends ToolInput> = Input extends StandardSchema
  ? NonNullable<Input["~standard"]["types"]>["output"]
  : Readonly<Record<string, unknown>>;

/** The context of one run of a tool, besides its input. */
export interface ToolCall {
  /** Aborted when the result is no longer wanted: cancelled, timed out, closed. */
  readonly signal: AbortSignal;
  /** The same for the same call of the same thread, also after a restart, and when it was approved later. */
  readonly idempotencyKey: string;
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  readonly callId: string;
  /** Returns the thread's state at this moment, for a tool that reads earlier messages. */
  readonly state: () => State;
  /**
   * The host's context, overridden member by member by that of the ask. Never journalled, so an ask's context is lost
   * in a restart.
   */
  readonly toolContext: ToolContext;
}

/** The values that an application gives its tools: a user, a database. Declare its members by module augmentation. */
export interface ToolContext {
  readonly [name: string]: unknown;
}

/**
 * Makes a tool.
 *
 * @throws ConfigurationError for an invalid definition, or one without a JSON Schema for the model.
 */
export const tool = <Input extends ToolInput>(definition: ToolDefinition<Input>): Tool => {
  const of = typeof definition?.name === "string" ? `tool "${definition.name}"` : "tool";
  checkOptions(of, definition, definitionKinds);
  const { name, description, version, input, recovery, approval, timeoutMs, concurrency, run } = definition;
  const parameters = parametersOf(`tool "${name}"`, input);
  const unchecked = "jsonSchema" in input ? problemOfSchema(parameters) : null;
  if (unchecked !== null) throw new ConfigurationError(`tool "${name}": input.jsonSchema: ${unchecked}`);
  if (!allowsObject(parameters))
    throw new ConfigurationError(
      `tool "${name}": input must be the schema of an object, since arguments are one (its type is ${JSON.stringify(parameters["type"] ?? parameters)})`,
    );
  return {
    declaration: {
      name,
      description,
      parameters: frozenCopy(parameters),
      ...(version === undefined ? {} : { version }),
      ...(recovery === undefined ? {} : { recovery }),
      ...(approval === undefined ? {} : { approval: approval === "always" ? "always" : "conditional" }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(concurrency === undefined ? {} : { concurrency }),
    },
    schema: "jsonSchema" in input ? null : input,
    // `readArguments` passes both only values that this tool's own schema returned.
    needsApproval: typeof approval === "function" ? (approval as NonNullable<Tool["needsApproval"]>) : null,
    run: run as Tool["run"],
  };
};

/** https://platform.openai.com/docs/api-reference/chat/create (tools.function.name) */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Whether arguments can match a schema. From JavaScript it may be true or false. */
const allowsObject = (schema: JsonObject | boolean): boolean => {
  const { type = "object" } = typeof schema === "boolean" ? { type: schema } : schema;
  return Array.isArray(type) ? type.includes("object") : type === "object";
};

/** Returns the declarations of tools, for `conversationMachine` and for a model. */
export const declarationsOf = (tools: readonly Tool[]): readonly Tool["declaration"][] => {
  checkTools(tools);
  return tools.map(({ declaration }) => declaration);
};

/** Refuses any value but a list of tools, for callers in JavaScript. @throws ConfigurationError */
export const checkTools = (tools: readonly Tool[]): void => {
  if (!Array.isArray(tools)) throw new ConfigurationError("tools must be a list, such as [tool({ name, … }), …]");
  const place = tools.findIndex((given) => !isTool(given));
  if (place >= 0) throw new ConfigurationError(`tools.${place} is none that tool({ name, … }) made`);
};

/** A schema: a Standard Schema or `{ jsonSchema }`. */
export const schemaKind: OptionKind = kinds.of(
  "a Standard Schema (of zod, valibot, arktype, …), or a JSON Schema as { jsonSchema }",
  (input) =>
    (typeof input === "object" || typeof input === "function") &&
    input !== null &&
    ("~standard" in input || "jsonSchema" in input),
);

const definitionKinds: OptionKinds<ToolDefinition<ToolInput>> = {
  name: kinds.needed(
    kinds.word(
      `a text that matches ${namePattern.source}, which all servers of models take`,
      (name) => typeof name === "string" && namePattern.test(name),
    ),
  ),
  description: kinds.needed(kinds.anyText),
  version: kinds.anyText,
  input: kinds.needed(schemaKind),
  recovery: kinds.oneOf("rerun", "interrupted", "once", "ask"),
  approval: kinds.word('"always" or a function', (approval) => approval === "always" || typeof approval === "function"),
  timeoutMs: kinds.whole(1),
  concurrency: kinds.whole(1),
  run: kinds.needed(kinds.call),
};

/** Returns a schema as JSON Schema; `what` names its owner in the error. @throws ConfigurationError if it has none */
export const parametersOf = (what: string, input: ToolInput): JsonObject => {
  if ("jsonSchema" in input) return input.jsonSchema;
  const { vendor, jsonSchema } = input["~standard"];
  if (jsonSchema === undefined) {
    const advice = advices.get(vendor) ?? "";
    throw new ConfigurationError(
      `${what}: this schema of ${vendor} has no JSON Schema for the model; ${advice}give it one, as in ${example}`,
    );
  }
  try {
    // `$schema` is useless to a model, and costs tokens. The text and back: plain JSON, and a copy.
    const { $schema: _, ...parameters } = jsonSchema.input({ target: "draft-2020-12" });
    return JSON.parse(JSON.stringify(parameters)) as JsonObject;
  } catch (thrown) {
    throw new ConfigurationError(
      `${what}: its schema has no JSON Schema for the model (${messageOf(thrown)}); give it one, as in ${example}`,
    );
  }
};

const example = 'withJsonSchema(schema, { type: "object", … })';

/** How to get a JSON Schema from the schemas of some vendors, for the error. */
const advices: ReadonlyMap<string, string> = new Map([
  ["zod", 'take zod 4.2.0 or newer, and its schemas from "zod", not from "zod/mini" or "zod/v3"; or '],
  ["valibot", "wrap it in toStandardJsonSchema of @valibot/to-json-schema; or "],
]);

/** A tool of the caller, which no host runs: a definition as for `tool`, without the members for running it. */
export interface CallerToolDefinition {
  readonly name: string;
  /** Tells the model what the tool does, and when to call it. */
  readonly description?: string;
  /**
   * The schema of its arguments, only for the model: they are passed on as the model wrote them. A Standard Schema with
   * a JSON Schema, as for `tool`, or `{ jsonSchema }`.
   */
  readonly input?: ToolInput;
}

/** Returns the tools of an ask as plain data, or why they are invalid. */
export const readCallerTools = (
  given: readonly CallerToolDefinition[],
): Either.Either<string, readonly CallerTool[]> => {
  // Callers in JavaScript may pass any value.
  const isList: boolean = Array.isArray(given);
  if (!isList) return Either.left("tools: it must be a list, such as [{ name, description, input }, …]");
  const tools: CallerTool[] = [];
  for (const [place, definition] of given.entries()) {
    const tool = readTool(`tools.${place}`, definition);
    if (Either.isLeft(tool)) return tool;
    tools.push(tool.right);
  }
  return Either.right(tools);
};

const readTool = (where: string, given: CallerToolDefinition): Either.Either<string, CallerTool> => {
  if (typeof given === "object" && given !== null && "run" in given)
    return Either.left(
      `${where} has a function to run; the tools of an ask are the caller's, who answers their calls by answerTool: give the host its own tools`,
    );
  const problem = problemOfOptions(where, given, callerToolKinds);
  if (problem !== null) return Either.left(problem);
  const { name, description, input } = given;
  try {
    return Either.right({
      name,
      ...(description === undefined ? {} : { description }),
      ...(input === undefined ? {} : { parameters: parametersOf(`tool "${name}"`, input) }),
    });
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) return Either.left(`${where}: ${thrown.message}`);
    throw thrown;
  }
};

const callerToolKinds: OptionKinds<CallerToolDefinition> = {
  name: kinds.needed(kinds.anything),
  description: kinds.anything,
  input: schemaKind,
};
