import * as z from "zod/mini";
import type { JsonObject } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";

/**
 * An input or output item of the Responses API, loosely typed. The schemas below list the fields that are read of each
 * kind.
 */
export interface ResponseItem extends JsonObject {
  readonly type: string;
}

/** The content of a message or a tool's output: a text, or parts. */
export type ItemContent = string | readonly JsonObject[];

const text = z.string();
const texts = z.nullish(z.array(z.looseObject({ text: z.nullish(text) })));

/** The types of text parts, of users and models. */
export const textTypes: readonly unknown[] = ["input_text", "output_text", "text"];

const part = z.custom<JsonObject>(
  (value) =>
    isJsonObject(value) &&
    typeof value["type"] === "string" &&
    (!textTypes.includes(value["type"]) || typeof value["text"] === "string") &&
    (value["type"] !== "refusal" || typeof value["refusal"] === "string"),
  "expected a part with its type, and its text where it is one",
);
const content = z.pipe(
  z.nullish(z.union([text, z.array(part)], "expected a text or a list of parts")),
  z.transform((given) => given ?? ""),
);

/** The schema of a message: of an output, or of an input, which may leave out its type. */
export const messageItem = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content,
});

export const functionCallItem = z.looseObject({ call_id: z.nullish(text), name: text, arguments: z.nullish(text) });

export const customCallItem = z.looseObject({ call_id: z.nullish(text), name: text, input: z.nullish(text) });

/** The output of a function, or of a custom tool. */
export const outputItem = z.looseObject({ type: text, call_id: z.nullish(text), output: content });

export const reasoningItem = z.looseObject({ summary: texts, content: texts });

/** The schema of an item that only the Responses API understands. */
export const otherItem = z.looseObject({ type: text, role: z.nullish(text), call_id: z.nullish(text) });

/** Calls with their own items that the caller runs; an output must follow. */
export const clientCalls: readonly string[] = ["computer_call", "local_shell_call", "apply_patch_call"];

/** Returns whether items of a type are kept unchanged. */
export const isOtherType = (type: string): boolean => others.includes(type) || /_(call|output)$/.test(type);

/** Returns whether items of a type hold the result of a call. */
export const isOutputType = (type: string): boolean => type.endsWith("_output");

/** The types of items without a role that come from the user. */
export const fromUser: readonly string[] = ["mcp_approval_response", "compaction_trigger", "configuration_update"];

const others: readonly string[] = [
  "item_reference",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "additional_tools",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "configuration_update",
  "program",
];
