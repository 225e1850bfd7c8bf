import type { Tool } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";

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
