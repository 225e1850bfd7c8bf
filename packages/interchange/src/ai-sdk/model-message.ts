import * as z from "zod/mini";
import type { JsonObject } from "@colloquy/machine";
import { jsonValue } from "../exchange/import-problem.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { aiOptions } from "./provider-options.ts";
import { toolOutput } from "./output.ts";

/** A message in the AI SDK's form for models (`ModelMessage`), as plain JSON. */
export interface ModelMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly JsonObject[];
  readonly providerOptions?: JsonObject;
}

const text = z.string();
const providerOptions = z.optional(aiOptions);

const textPart = z.looseObject({ type: z.literal("text"), text, providerOptions });
const filePart = z.looseObject({
  type: z.literal("file"),
  data: z.union([text, z.custom<JsonObject>(isJsonObject)], "expected a URL, bytes, or an object that says which"),
  mediaType: text,
  filename: z.optional(text),
  providerOptions,
});
const imagePart = z.looseObject({
  type: z.literal("image"),
  image: z.union([text, z.custom<JsonObject>(isJsonObject)], "expected a URL or bytes"),
  mediaType: z.optional(text),
  providerOptions,
});
const toolResult = z.looseObject({
  type: z.literal("tool-result"),
  toolCallId: text,
  toolName: text,
  output: toolOutput,
  providerOptions,
});
const assistantPart = z.discriminatedUnion("type", [
  textPart,
  filePart,
  z.looseObject({ type: z.literal("reasoning"), text, providerOptions }),
  z.looseObject({ type: z.literal("reasoning-file"), providerOptions }),
  z.looseObject({ type: z.literal("custom"), kind: text, providerOptions }),
  z.looseObject({
    type: z.literal("tool-call"),
    toolCallId: text,
    toolName: text,
    input: z.optional(jsonValue),
    providerExecuted: z.optional(z.boolean()),
    providerOptions,
  }),
  toolResult,
  z.looseObject({ type: z.literal("tool-approval-request"), approvalId: text, toolCallId: text }),
]);
const toolPart = z.discriminatedUnion("type", [
  toolResult,
  z.looseObject({
    type: z.literal("tool-approval-response"),
    approvalId: text,
    approved: z.boolean(),
    reason: z.optional(text),
  }),
]);

/** The schema of the fields that are read. */
export const modelMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: text, providerOptions }),
  z.looseObject({
    role: z.literal("user"),
    content: z.union([text, z.array(z.discriminatedUnion("type", [textPart, filePart, imagePart]))]),
    providerOptions,
  }),
  z.looseObject({ role: z.literal("assistant"), content: z.union([text, z.array(assistantPart)]), providerOptions }),
  z.looseObject({ role: z.literal("tool"), content: z.array(toolPart), providerOptions }),
]);

export type ModelMessageRead = z.infer<typeof modelMessage>;
export type AssistantPart = z.infer<typeof assistantPart>;
export type FilePart = z.infer<typeof filePart> | z.infer<typeof imagePart>;
export type ToolResultRead = z.infer<typeof toolResult>;
export type ToolMessageRead = Extract<ModelMessageRead, { role: "tool" }>;
