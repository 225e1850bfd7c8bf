import type { JsonObject, State, ToolDeclaration, ToolRecovery } from "@colloquy/machine";
import { ConfigurationError } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { type OptionNames, problemOfOptions } from "../boundary/option-names.ts";
import { messageOf } from "../boundary/thrown.ts";
import { problemOfSchema } from "./schema-problem.ts";
import type { StandardSchema } from "./schema.ts";

/** A tool: what the machine and the model know of it, and the function that runs. Made by `tool`. */
export interface Tool {
  readonly declaration: ToolDeclaration & { readonly parameters: JsonObject };
  /** Null: arguments are checked against `declaration.parameters`. */
  readonly schema: StandardSchema | null;
  /** Whether a call has to be approved, of a tool that is declared `conditional`; null for any other. */
  readonly needsApproval: ((input: unknown, call: ToolCall) => boolean | Promise<boolean>) | null;
  readonly run: (input: unknown, call: ToolCall) => unknown;
}

/** What a tool is made from. */
export interface ToolDefinition<Input extends ToolInput> {
  readonly name: string;
  /** For the model: what it does, and when to call it. */
  readonly description: string;
  /** What the function does differently is another version. */
  readonly version?: string;
  /** The schema of its arguments: a Standard Schema with a JSON Schema for the model (`withJsonSchema` gives one to a schema that has none), or a JSON Schema by itself. */
  readonly input: Input;
  /** What to do about a call that was out when the process died. Default `interrupted`. */
  readonly recovery?: ToolRecovery;
  /**
   * Whether a call has to be approved before it runs: each, or those for which the function does not say `false`. It
   * is asked when the arguments were validated, and should only look. Default: none.
   */
  readonly approval?: "always" | ((input: InputOf<Input>, call: ToolCall) => boolean | Promise<boolean>);
  /** How long one run may take, in milliseconds; its signal is aborted then. Default: as long as it takes. */
  readonly timeoutMs?: number;
  /** How many calls may run at the same time in one host. Default: all. */
  readonly concurrency?: number;
  /**
   * Runs it. What it returns, or its promise, is what the model reads: a string as it is, content parts as they
   * are, anything else as JSON. The model reads what it throws as a failure, by its message.
   */
  readonly run: (input: InputOf<Input>, call: ToolCall) => unknown;
}

export type ToolInput = StandardSchema | { readonly jsonSchema: JsonObject };

/** What `run` is given: what the schema makes of the arguments; a plain JSON Schema says nothing about types. */
export type InputOf<Input extends ToolInput> = Input extends StandardSchema
  ? NonNullable<Input["~standard"]["types"]>["output"]
  : Readonly<Record<string, unknown>>;

/** What a running tool knows beside its input. */
export interface ToolCall {
  /** Aborted when the result is no longer wanted: cancelled, timed out, closed. */
  readonly signal: AbortSignal;
  /** The same for the same call of the same thread, also after a restart, and when it was approved later. */
  readonly idempotencyKey: string;
  readonly threadId: string;
  readonly turn: number;
  readonly step: number;
  readonly callId: string;
  /** The thread as it is at this moment, for a tool that looks back at what was said. */
  readonly state: () => State;
  /** The host's, with that of the ask laid over it member by member. Never journalled, so an ask's is gone after a restart. */
  readonly toolContext: ToolContext;
}

/** Whatever an application wants its tools to have: a user, a database. Declare its members by module augmentation. */
export interface ToolContext {
  readonly [name: string]: unknown;
}

/**
 * Makes a tool.
 *
 * @throws ConfigurationError for a definition that is invalid, or without a JSON Schema for the model.
 */
export const tool = <Input extends ToolInput>(definition: ToolDefinition<Input>): Tool => {
  const problem = problemOfOptions("tool", definition, definitionNames);
  if (problem !== null) throw new ConfigurationError(problem);
  const { name, description, version, input, recovery, approval, timeoutMs, concurrency, run } = definition;
  if (typeof name !== "string" || !namePattern.test(name))
    throw new ConfigurationError(
      `tool ${JSON.stringify(name)}: name must match ${namePattern.source}, which all servers of models take`,
    );
  if (typeof description !== "string")
    throw new ConfigurationError(`tool "${name}": description is of type ${typeof description}; it must be a text`);
  if (typeof run !== "function")
    throw new ConfigurationError(`tool "${name}": run is of type ${typeof run}; it must be a function`);
  if (!isInput(input))
    throw new ConfigurationError(
      `tool "${name}": input is no Standard Schema (of zod, valibot, arktype, …); give a JSON Schema as { jsonSchema }`,
    );
  for (const [option, value] of Object.entries({ timeoutMs, concurrency })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
      throw new ConfigurationError(`tool "${name}": ${option} is ${value}; it must be a whole number of 1 or more`);
    }
  }
  if (approval !== undefined && approval !== "always" && typeof approval !== "function") {
    throw new ConfigurationError(
      `tool "${name}": approval is ${JSON.stringify(approval)}; it must be "always" or a function`,
    );
  }
  const parameters = parametersOf(`tool "${name}"`, input);
  const unchecked = "jsonSchema" in input ? problemOfSchema(parameters) : null;
  if (unchecked !== null) throw new ConfigurationError(`tool "${name}": input.jsonSchema: ${unchecked}`);
  if (!allowsObject(parameters))
    throw new ConfigurationError(
      `tool "${name}": input must be the schema of an object, since arguments are one (its type is ${JSON.stringify(parameters["type"])})`,
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
    // `readArguments` hands both nothing but what this tool's own schema made.
    needsApproval: typeof approval === "function" ? (approval as NonNullable<Tool["needsApproval"]>) : null,
    run: run as Tool["run"],
  };
};

/** https://platform.openai.com/docs/api-reference/chat/create (tools.function.name) */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Whether a schema says nothing that no object can be. */
const allowsObject = ({ type = "object" }: JsonObject): boolean =>
  Array.isArray(type) ? type.includes("object") : type === "object";

/** What to declare to `conversationMachine`, and to a model, about tools. */
export const declarationsOf = (tools: readonly Tool[]): readonly Tool["declaration"][] => {
  checkTools(tools);
  return tools.map(({ declaration }) => declaration);
};

/** Refuses what is no list of tools, for callers in JavaScript. @throws ConfigurationError */
export const checkTools = (tools: readonly Tool[]): void => {
  if (!Array.isArray(tools)) throw new ConfigurationError("tools is no list; give [tool({ name, … }), …]");
  const place = tools.findIndex((given: unknown) => !isTool(given));
  if (place >= 0) throw new ConfigurationError(`tools.${place} is none that tool({ name, … }) made`);
};

const isTool = (given: unknown): boolean =>
  typeof given === "object" &&
  given !== null &&
  "run" in given &&
  typeof given.run === "function" &&
  "declaration" in given &&
  typeof given.declaration === "object";

const definitionNames: OptionNames<ToolDefinition<ToolInput>> = {
  name: "required",
  description: "required",
  version: true,
  input: "required",
  recovery: true,
  approval: true,
  timeoutMs: true,
  concurrency: true,
  run: "required",
};

/** Whether a value is what a schema may be given as. */
export const isInput = (input: unknown): boolean =>
  (typeof input === "object" || typeof input === "function") &&
  input !== null &&
  ("~standard" in input || "jsonSchema" in input);

/** Returns a schema as JSON Schema; `what` it is of is for the error. @throws ConfigurationError for one that has none */
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
    // `$schema` says nothing to a model, and costs tokens. The text and back: plain JSON, and a copy.
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
