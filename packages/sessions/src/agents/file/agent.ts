import type { Tool } from "@colloquy/host";
import type { JsonObject, Json } from "@colloquy/machine";
import { problemOfSchema } from "@colloquy/host/store";
import { z } from "zod";
import { readSignatureText } from "./signature-text.ts";

/** An agent from its file, with defaults for missing fields. Immutable. */
export interface Agent {
  /** The real path of the file. */
  readonly file: string;
  readonly name: string;
  readonly description: string | null;
  /** The model that answers; null for the model of its caller or host. */
  readonly model: string | null;
  /** Parameters of the model, with the names that its server uses. */
  readonly modelParameters: JsonObject;
  /** The system prompt. */
  readonly instructions: string | null;
  /** Null if it takes a text and answers with a text. */
  readonly signature: AgentSignature | null;
  readonly tools: readonly Tool[];
  readonly subagents: readonly Subagent[];
  readonly memory: AgentMemory;
  readonly limits: { readonly steps: number };
}

export interface AgentSignature {
  readonly inputs: FieldsSchema;
  readonly outputs: FieldsSchema;
}

/** A JSON Schema of an object with exactly these fields. */
export interface FieldsSchema extends JsonObject {
  readonly type: "object";
  readonly properties: { readonly [field: string]: JsonObject };
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The part of earlier turns that a prompt shows. */
export interface AgentMemory {
  /** The number of earlier turns; 0 for none. */
  readonly maxTurns: number;
  /** The summarisation of earlier turns: `none` shows them unchanged. */
  readonly compression: "concise" | "verbose" | "none";
}

/** An agent that another one may call, as a tool. */
export interface Subagent {
  /** The name of the tool. */
  readonly name: string;
  /** The description for the calling model. */
  readonly description: string;
  readonly memory: SubagentMemory;
  readonly agent: Agent;
}

/**
 * A subagent's memory of earlier calls, in a thread under its caller. `parent`: those on the caller's present path, so
 * it is undone, cleared, restored and forked with the caller. `own`: all of them, even if the caller takes calls back;
 * for a fork of the caller it begins again. `none`: none, each call is independent.
 */
export type SubagentMemory = "parent" | "own" | "none";

export interface AgentFields {
  readonly version?: 1 | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly model?: string | undefined;
  readonly modelParameters?: JsonObject | undefined;
  readonly instructions?: string | undefined;
  readonly signature?: string | { readonly inputs: SignatureFields; readonly outputs: SignatureFields } | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly subagents?: readonly (string | SubagentFields)[] | undefined;
  readonly memory?:
    | {
        readonly maxTurns?: number | undefined;
        readonly compression?: AgentMemory["compression"] | undefined;
      }
    | undefined;
  readonly limits?: { readonly steps?: number | undefined } | undefined;
  readonly compression?: AgentMemory["compression"] | undefined;
  readonly max_context_turns?: number | undefined;
  readonly max_iters?: number | undefined;
}

/** Fields by their types: the name of a type, or a JSON Schema. */
export interface SignatureFields {
  readonly [field: string]: "string" | "number" | "integer" | "boolean" | JsonObject;
}

/** A subagent with more than its file: either `file`, or `agent`, which is a file or the agent itself. */
export interface SubagentFields {
  readonly file?: string | undefined;
  readonly agent?: string | AgentFields | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly memory?: SubagentMemory | undefined;
}

// The message of each schema describes the required value; the actual value and its place are put before it.

/** The rule for names, as errors state it. */
export const nameText = "a name of at most 64 letters, digits, - and _ that begins with a letter";
const namePattern = /^[A-Za-z][\w-]{0,63}$/;
const name = z.string(nameText).regex(namePattern, nameText);
const text = z.string("a text");
const count = z.int("a whole number of 0 or more").min(0, "a whole number of 0 or more");
const positive = z.int("a whole number of 1 or more").min(1, "a whole number of 1 or more");
const model = text.min(1, "the name of a model, or left out for that of the host");
const compression = z.enum(["concise", "verbose", "none"], "one of concise, verbose, none");

const json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)], "a JSON value"),
);

const parametersText = "a mapping of names to JSON values";
const parameters = z.record(z.string(), json, parametersText);

const fieldTypes = ["string", "number", "integer", "boolean"] as const;
const fieldText = `one of ${fieldTypes.join(", ")}, or a mapping that is a JSON schema`;
const fieldsText = "a mapping of at least one name to its type, such as { question: string }";
const field = z.union([z.enum(fieldTypes), z.record(z.string(), json)], fieldText);
const fields = z
  .record(z.string(), field, fieldsText)
  .refine((given) => Object.keys(given).length > 0, fieldsText)
  .superRefine((given, context) => {
    for (const [name, type] of Object.entries(given)) {
      // Checked as a property of the object that it will belong to, because references start from there.
      const problem = typeof type === "string" ? null : problemOfSchema({ properties: { [name]: type } });
      const message = `a JSON schema that can be checked (${problem})`;
      if (problem !== null) context.addIssue({ code: "custom", message, path: [name] });
    }
  });

const subagentOptions = z.strictObject({
  file: text.optional().describe("The file of the agent, relative to this one."),
  agent: z
    .lazy(() => z.union([text, whole], subagentText))
    .optional()
    .describe("The agent itself, with the fields of a file; or its file."),
  name: name.optional().describe("What the tool is called. Default: the name of the agent."),
  description: text.optional().describe("For the model that calls it. Default: the description of the agent."),
  memory: z
    .enum(["parent", "own", "none"], "one of parent, own, none")
    .optional()
    .describe("What it remembers: with the path of its caller (default), all calls of the thread, or nothing."),
});

const toolText = "./file.ts or ./file.ts#export";

const subagentText = "./file.yaml, or { file or agent, name, description, memory }";

const memory = z.strictObject(
  {
    maxTurns: count.optional().describe("How many earlier turns are shown. Default 20."),
    compression: compression.optional().describe("How they are summed up. Default concise."),
  },
  "{ maxTurns, compression }",
);

const limits = z.strictObject(
  { steps: positive.optional().describe("Model calls of a turn. Default 20.") },
  "{ steps }",
);

const signature = z.strictObject({ inputs: fields, outputs: fields }, "{ inputs, outputs }");

const signatureText = z.string().superRefine((given, context) => {
  for (const message of readSignatureText(given).problems) context.addIssue({ code: "custom", message });
});

const whole: z.ZodObject<z.core.$ZodLooseShape, z.core.$strict> & z.ZodType<AgentFields> = z
  .strictObject(
    {
      version: z.literal(1, "1").optional().describe("The version of this format: 1."),
      name: name
        .optional()
        .describe("What the agent is called; as a subagent also the name of its tool. Default: the name of the file."),
      description: text.optional().describe("What it does, for agents that may call it."),
      model: model.optional().describe("The model that answers."),
      modelParameters: parameters.optional().describe("Parameters of the model, such as temperature."),
      instructions: text.optional().describe("The system prompt. In Markdown the body of the file."),
      signature: z
        .union([signatureText, signature], "question -> answer, or { inputs, outputs }")
        .optional()
        .describe("What goes in and what comes out; outputs are checked."),
      tools: z
        .array(z.string(toolText).min(1, toolText), `a list of ${toolText}`)
        .optional()
        .describe(
          "Modules relative to this file: their default or only tool, or the one named after #. Loading them runs their code, so it has to be allowed.",
        ),
      subagents: z
        .array(z.union([text.min(1, subagentText), subagentOptions], subagentText), `a list of ${subagentText}`)
        .optional()
        .describe("Agents that it may call as tools."),
      memory: memory.optional().describe("What it remembers of earlier turns."),
      limits: limits.optional().describe("How far a turn may go."),
      compression: compression.optional().describe("Another word for memory.compression."),
      max_context_turns: count.optional().describe("Another word for memory.maxTurns."),
      max_iters: positive.optional().describe("Another word for limits.steps."),
    },
    "a mapping of fields such as instructions",
  )
  .describe("An agent of Colloquy.");

/** The schema of an agent's file, used for the checks and for the JSON Schema of editors. */
export const agentFields: z.ZodType<AgentFields> = whole;

/**
 * Returns the JSON Schema of an agent's file, for editors; `@colloquy/sessions/agent.schema.json` is the same as a file.
 */
export const agentFileSchema = (): object => z.toJSONSchema(agentFields, { io: "input" });

/** The names of the known fields: those of an agent under "", and nested ones under their field. */
export const knownFields: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(whole.shape),
  memory: Object.keys(memory.shape),
  limits: Object.keys(limits.shape),
  signature: Object.keys(signature.shape),
  subagents: Object.keys(subagentOptions.shape),
};

/** Returns the name of an agent from its file's name, `helper` for `helper.yaml`; null if that is not a valid name. */
export const nameFromFile = (file: string): string | null => {
  const [name = ""] = file.split(".");
  return namePattern.test(name) ? name : null;
};

/** The field names of other formats, and the names here: .prompt.yml, .agent.md, Prompty, docker agent, ADK, DSPy. */
export const foreignFields: Readonly<Record<string, string>> = {
  instruction: "instructions",
  system: "instructions",
  system_prompt: "instructions",
  prompt: "instructions",
  messages: "instructions, which is the system prompt",
  template: "instructions; they are a plain text, without placeholders",
  parameters: "modelParameters",
  model_parameters: "modelParameters",
  configuration: "model and modelParameters",
  generate_content_config: "modelParameters",
  inputs: "signature: { inputs }",
  input_schema: "signature: { inputs }",
  outputs: "signature: { outputs }",
  output_schema: "signature: { outputs }",
  responseFormat: "signature: { outputs }",
  jsonSchema: "signature: { outputs }",
  sub_agents: "subagents",
  agents: "subagents",
  handoffs: "subagents",
  toolsets: "tools",
  mcp_servers: "tools, exports of modules: ./file.ts#export",
  num_history_items: "memory: { maxTurns }",
  max_turns: "memory: { maxTurns }",
  max_steps: "limits: { steps }",
  max_iterations: "limits: { steps }",
  title: "name",
};

/** The field names of DSPy's agents, and the fields here. */
export const aliases: readonly (readonly [alias: keyof AgentFields, group: "memory" | "limits", field: string])[] = [
  ["compression", "memory", "compression"],
  ["max_context_turns", "memory", "maxTurns"],
  ["max_iters", "limits", "steps"],
];
