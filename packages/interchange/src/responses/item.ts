import * as z from "zod/mini";
import type { JsonObject } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";

/** An item of the Responses API, of an input or an output. Loosely typed: what is read of each kind stands below. */
export interface ResponseItem extends JsonObject {
  readonly type: string;
}

/** What a message or a tool's output contains: a text, or parts. */
export type ItemContent = string | readonly JsonObject[];

const text = z.string();
const texts = z.nullish(z.array(z.looseObject({ text: z.nullish(text) })));

/** The types of a part that is a text, of users and models. */
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

/** A message: of an output, or in the easy form of an input, which may leave out its type. */
export const messageItem = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content,
});

export const functionCallItem = z.looseObject({ call_id: z.nullish(text), name: text, arguments: z.nullish(text) });

export const customCallItem = z.looseObject({ call_id: z.nullish(text), name: text, input: z.nullish(text) });

/** The output of a function, or of a custom tool. */
export const outputItem = z.looseObject({ type: text, call_id: z.nullish(text), output: content });

export const reasoningItem = z.looseObject({ summary: texts, content: texts });

/** An item that only the Responses API understands. */
export const otherItem = z.looseObject({ type: text, role: z.nullish(text), call_id: z.nullish(text) });

/** Calls of tools that run at the caller's and have an item of their own: an output must follow. */
export const clientCalls: readonly string[] = ["computer_call", "local_shell_call", "apply_patch_call"];

/** Whether a type is one of an item that is kept as it came. */
export const isOtherType = (type: string): boolean => others.includes(type) || /_(call|output)$/.test(type);

/** Whether an item of that type says how a call ended. */
export const isOutputType = (type: string): boolean => type.endsWith("_output");

/** Whose the items are that have no role. */
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
