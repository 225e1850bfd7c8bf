import { type Json, type JsonObject, saysCut } from "@colloquy/machine";
import type * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import { anyJson, anyObject, orAbsent, orNull, parseWith } from "./wire-records.ts";

/** A recorded conversation of another client: over chat completions (the default), or over the Responses API. */
export type RecordedCase = RecordedChatCase | RecordedResponsesCase;

/**
 * A recorded conversation over chat completions: its steps, and the prompt of each model call. Field names are those of
 * the files. A replay ignores all other fields.
 */
export interface RecordedChatCase {
  readonly id: string;
  readonly api?: "chat.completions" | undefined;
  readonly source?: string | undefined;
  /**
   * The model, the parameters and the tools of the first model call. `"@common"` means the tools of the common file.
   */
  readonly model?: string | undefined;
  readonly params?: JsonObject | undefined;
  readonly tools?: Json | undefined;
  readonly tags: readonly string[];
  /** A text, a list of parts, null for none, or `"@common"` for the system prompt of the common file. */
  readonly system: Json;
  readonly system_role?: "system" | "developer" | undefined;
  /** Canonical messages before the first step. */
  readonly seed?: readonly JsonObject[] | undefined;
  readonly steps: readonly RecordedStep[];
  readonly end?: string | undefined;
  readonly expect: RecordedExpectation;
}

export type RecordedStep = RecordedUser | RecordedReply | RecordedResult | RecordedMessage;

/** A user's message. */
export interface RecordedUser {
  readonly type: "user";
  readonly content: Json;
  readonly name?: string | null | undefined;
}

/** A model's reply. */
export interface RecordedReply {
  readonly type: "llm";
  /** The provider's message, without a role. */
  readonly message: JsonObject;
  readonly finish_reason?: string | null | undefined;
  readonly usage?: JsonObject | null | undefined;
  /** The client's version of the reply in canonical form, if it differs. */
  readonly echo?: JsonObject | undefined;
  /** The reply was streamed. */
  readonly stream?: boolean | undefined;
  /** The recorded HTTP exchange of this call. */
  readonly exchange?: { readonly cassette: string; readonly index: number } | undefined;
}

/** A tool's result. */
export interface RecordedResult {
  readonly type: "tool";
  readonly tool_call_id: string | null;
  /** The tool's name; null if the client did not name it. */
  readonly name?: string | null | undefined;
  readonly content: Json;
  /** The client inserted it itself, so it does not count as a tool's answer. */
  readonly placed?: true;
}

/** A message that the client inserted itself. */
export interface RecordedMessage {
  readonly type: "message";
  /** In canonical form. */
  readonly message: JsonObject;
}

/** The expected result. `calls[k]` is the prompt of the k-th model call. */
export interface RecordedExpectation {
  readonly calls: readonly {
    readonly messages: number;
    /** The hash of the messages in canonical form. */
    readonly sha256: string;
    /** The hash of the messages exactly as sent in the request. */
    readonly wire_sha256?: string | undefined;
  }[];
  readonly llm_calls: number;
  readonly tool_calls: number;
  readonly tool_results: number;
  readonly user_messages: number;
  readonly messages_final: number;
  readonly final_sha256: string;
  readonly finish_reasons?: readonly (string | null)[] | undefined;
  readonly usage: JsonObject | null;
}

/** Values that the cases of one file share. */
export interface CommonFile {
  readonly system: Json;
}

/** Parses a case; Left with a description of the problem. */
export const parseCase = (value: unknown): Either.Either<string, RecordedCase> =>
  parseWith<RecordedCase>(isOfResponses(value) ? recordedResponsesCase : recordedCase, value);

/** Parses a common file; Left with a description of the problem. */
export const parseCommon = (value: unknown): Either.Either<string, CommonFile> => parseWith(common, value);

/** Returns whether a case must replay exactly, because no tag excuses a difference. */
export const isStrict = (recorded: RecordedCase): boolean =>
  !recorded.tags.some((tag) => excuses.includes(tag)) && !hasCutCalls(recorded);

/** Returns whether a cut-off reply calls tools. A client may run them; a machine does not. */
const hasCutCalls = ({ steps }: RecordedCase): boolean =>
  steps.some((step) => {
    if (step.type !== "llm") return false;
    if ("output" in step) return saysCut(step.status) && step.output.some(({ type }) => type === "function_call");
    const calls = step.message["tool_calls"];
    return saysCut(step.finish_reason ?? null) && Array.isArray(calls) && calls.length > 0;
  });

/** The tags that excuse a difference: clients do what a well-formed thread cannot contain. */
const excuses: readonly string[] = [
  "seed",
  "other-mid",
  "mid-system",
  "protocol-violation",
  "echo-differs",
  "prefix-reserialised",
  "n>1",
  "function_call",
  "user-after-tools",
  "no-tool-id",
];

const step = z.discriminatedUnion("type", [
  z.object({ type: z.literal("user"), content: anyJson.optional().transform(orNull), name: z.string().nullish() }),
  z.object({
    type: z.literal("llm"),
    message: anyObject,
    finish_reason: z.string().nullish(),
    usage: anyObject.nullish(),
    echo: anyObject.nullish().transform(orAbsent),
    stream: z.boolean().nullish().transform(orAbsent),
    exchange: z.object({ cassette: z.string(), index: z.number() }).nullish().transform(orAbsent),
  }),
  z.object({
    type: z.literal("tool"),
    tool_call_id: z.string().nullish().transform(orNull),
    name: z.string().nullish(),
    content: anyJson.optional().transform(orNull),
  }),
  z.object({ type: z.literal("message"), message: anyObject }).transform(resultOrMessage),
]);

const recordedCase = z.object({
  id: z.string(),
  api: z.literal("chat.completions").optional(),
  source: z.string().optional(),
  model: z.string().nullish().transform(orAbsent),
  params: anyObject.nullish().transform(orAbsent),
  tools: anyJson.optional(),
  tags: z.array(z.string()).default([]),
  system: anyJson.optional().transform(orNull),
  system_role: z.enum(["system", "developer"]).nullish().transform(orAbsent),
  seed: z.array(anyObject).nullish().transform(orAbsent),
  steps: z.array(step),
  end: z.string().nullish().transform(orAbsent),
  expect: z.object({
    calls: z.array(z.object({ messages: z.number(), sha256: z.string(), wire_sha256: z.string().optional() })),
    llm_calls: z.number(),
    tool_calls: z.number(),
    tool_results: z.number(),
    user_messages: z.number(),
    messages_final: z.number(),
    final_sha256: z.string(),
    finish_reasons: z.array(z.string().nullable()).nullish().transform(orAbsent),
    usage: anyObject.nullish().transform(orNull),
  }),
});

const common = z.object({ system: anyJson });

const isOfResponses = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "api" in value && value.api === "responses";

/** Converts a tool message that a client inserted to a result. */
function resultOrMessage(step: RecordedMessage): RecordedMessage | RecordedResult {
  const { role, tool_call_id: id, content } = step.message;
  if (role !== "tool") return step;
  return { type: "tool", tool_call_id: typeof id === "string" ? id : null, content: content ?? null, placed: true };
}

/**
 * A recorded conversation over the Responses API. Items are in canonical form: of reasoning and built-in tools, only
 * type and id are recorded. A replay ignores all other fields.
 */
export interface RecordedResponsesCase {
  readonly id: string;
  readonly api: "responses";
  readonly source?: string | undefined;
  /** The model and the tools of the model calls. */
  readonly model?: string | undefined;
  readonly tools?: readonly JsonObject[] | undefined;
  readonly tags: readonly string[];
  /** The system prompt that was sent beside the items; null for none. */
  readonly instructions: string | null;
  readonly steps: readonly RecordedResponsesStep[];
  readonly expect: {
    /** The input of the k-th model call. `previous_response_id` names the response that the items follow. */
    readonly calls: readonly {
      readonly input_items: number;
      readonly sha256: string;
      readonly previous_response_id: string | null;
    }[];
    readonly llm_calls: number;
    /** The number of function calls. */
    readonly tool_calls: number;
    readonly usage: JsonObject | null;
  };
}

export type RecordedResponsesStep = RecordedInput | RecordedOutput;

/** Items that a client added after the last response: user messages, function results, and any others. */
export interface RecordedInput {
  readonly type: "input";
  readonly items: readonly JsonObject[];
  /** The part of the previous response that the client sent back: all of it, all but its reasoning, or only its id. */
  readonly echo?: string | undefined;
}

/** A model's response. */
export interface RecordedOutput {
  readonly type: "llm";
  readonly output: readonly JsonObject[];
  readonly status: string | null;
  readonly usage?: JsonObject | null | undefined;
  /** The recorded HTTP exchange of this call. */
  readonly exchange?: { readonly cassette: string; readonly index: number } | undefined;
}

const responsesStep = z.discriminatedUnion("type", [
  z.object({ type: z.literal("input"), items: z.array(anyObject), echo: z.string().nullish().transform(orAbsent) }),
  z.object({
    type: z.literal("llm"),
    output: z.array(anyObject),
    status: z.string().nullish().transform(orNull),
    usage: anyObject.nullish(),
    exchange: z.object({ cassette: z.string(), index: z.number() }).nullish().transform(orAbsent),
  }),
]);

const recordedResponsesCase: z.ZodType<RecordedResponsesCase> = z.object({
  id: z.string(),
  api: z.literal("responses"),
  source: z.string().optional(),
  model: z.string().nullish().transform(orAbsent),
  tools: z.array(anyObject).nullish().transform(orAbsent),
  tags: z.array(z.string()).default([]),
  instructions: z.string().nullish().transform(orNull),
  steps: z.array(responsesStep),
  expect: z.object({
    calls: z.array(
      z.object({
        input_items: z.number(),
        sha256: z.string(),
        previous_response_id: z.string().nullish().transform(orNull),
      }),
    ),
    llm_calls: z.number(),
    tool_calls: z.number(),
    usage: anyObject.nullish().transform(orNull),
  }),
});
