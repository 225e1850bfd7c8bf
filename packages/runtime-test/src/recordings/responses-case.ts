import type { JsonObject } from "@colloquy/machine";
import { z } from "zod";
import { anyObject, orAbsent, orNull } from "./parse.ts";

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

const step = z.discriminatedUnion("type", [
  z.object({ type: z.literal("input"), items: z.array(anyObject), echo: z.string().nullish().transform(orAbsent) }),
  z.object({
    type: z.literal("llm"),
    output: z.array(anyObject),
    status: z.string().nullish().transform(orNull),
    usage: anyObject.nullish(),
    exchange: z.object({ cassette: z.string(), index: z.number() }).nullish().transform(orAbsent),
  }),
]);

/** The schema of a case of this kind. */
export const recordedResponsesCase: z.ZodType<RecordedResponsesCase> = z.object({
  id: z.string(),
  api: z.literal("responses"),
  source: z.string().optional(),
  model: z.string().nullish().transform(orAbsent),
  tools: z.array(anyObject).nullish().transform(orAbsent),
  tags: z.array(z.string()).default([]),
  instructions: z.string().nullish().transform(orNull),
  steps: z.array(step),
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
