import type { Tool } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";

/** An agent as its file says it, with defaults in place of what it leaves out. Immutable. */
export interface Agent {
  /** The file, by its real path. */
  readonly file: string;
  readonly name: string;
  readonly description: string | null;
  /** The model that answers; null: the one that it is used with. */
  readonly model: string | null;
  /** Parameters of the model, as its server calls them. */
  readonly modelParameters: JsonObject;
  /** The system prompt. */
  readonly instructions: string | null;
  /** Null: it takes a text and answers with one. */
  readonly signature: AgentSignature | null;
  readonly tools: readonly Tool[];
  readonly subagents: readonly Subagent[];
  readonly memory: AgentMemory;
  readonly limits: { readonly steps: number };
}

/** What goes in and what comes out. */
export interface AgentSignature {
  readonly inputs: FieldsSchema;
  readonly outputs: FieldsSchema;
}

/** JSON Schema of an object with exactly these fields. */
export interface FieldsSchema extends JsonObject {
  readonly type: "object";
  readonly properties: { readonly [field: string]: JsonObject };
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** What a prompt shows of earlier turns. */
export interface AgentMemory {
  /** How many earlier turns; 0 for none. */
  readonly maxTurns: number;
  /** How they are summed up: `none` shows them as they were. */
  readonly compression: "concise" | "verbose" | "none";
}

/** An agent that another one may call, as a tool. */
export interface Subagent {
  /** What the tool is called. */
  readonly name: string;
  /** For the model that calls it. */
  readonly description: string;
  readonly memory: SubagentMemory;
  readonly agent: Agent;
}

/**
 * What a subagent remembers of the calls before, in a thread of its caller. `parent`: those on the caller's present path, so
 * it is undone, cleared, restored and forked with it. `own`: all of them, whatever the caller takes back; a fork of the
 * caller begins anew. `none`: each call stands by itself.
 */
export type SubagentMemory = "parent" | "own" | "none";
