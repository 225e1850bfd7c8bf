import type { JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import { problemOfOptions, problemOfRules, readBody } from "./request-body.ts";
import { pairs } from "./strict/rules/common-rules.ts";
import { eachMessage, type Rule } from "./strict/rules/rule.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

export interface ChatRequest {
  readonly model: string;
  /** Unparsed. */
  readonly messages: readonly JsonObject[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** All other fields, unparsed. */
  readonly parameters: JsonObject;
}

export const parseChatRequest = (text: string): Either.Either<WireError, ChatRequest> => {
  const read = readBody(requestSchema, text);
  if (Either.isLeft(read)) return read;
  const { messages, model, stream, stream_options: options, ...parameters } = read.right;
  const problem = problemOfOptions(read.right) ?? problemOfTools(read.right) ?? problemOfRules(rules, read.right);
  if (problem !== null) return Either.left(problem);
  return Either.right({
    model,
    // Parsed from JSON, and complete, because the schema keeps unknown fields.
    messages: messages as readonly JsonObject[],
    stream: stream ?? false,
    includeUsage: options?.include_usage ?? false,
    // Parsed from JSON, as above.
    parameters: parameters as JsonObject,
  });
};

const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() })).min(1)]);

const toolCallSchema = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const messageSchema = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: contentSchema }),
  z.looseObject({ role: z.literal("developer"), content: contentSchema }),
  z.looseObject({ role: z.literal("user"), content: contentSchema }),
  z.looseObject({
    role: z.literal("assistant"),
    content: contentSchema.nullish(),
    tool_calls: z.array(toolCallSchema).min(1).optional(),
  }),
  z.looseObject({ role: z.literal("tool"), content: contentSchema, tool_call_id: z.string() }),
]);

const toolSchema = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "expected letters, digits, _ and -, at most 64"),
    parameters: z.looseObject({}).optional(),
  }),
});

const requestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z.array(toolSchema).min(1).optional(),
  n: z.int().min(1).max(1, "this server gives one choice").nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
});

const problemOfTools = (request: z.infer<typeof requestSchema>): WireError | null => {
  const forTools = ["tool_choice", "parallel_tool_calls"].find((name) => request[name] !== undefined);
  if (forTools !== undefined && request.tools === undefined) {
    return invalidRequest(`'${forTools}' is only allowed when 'tools' are specified.`, forTools);
  }
  return null;
};

const reference = "https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages";

const rules: readonly Rule[] = [
  eachMessage("content of messages", reference, (message, index) => {
    const isEmpty = ["content", "refusal", "function_call", "audio", "tool_calls"].every(
      (name) => message[name] === undefined || message[name] === null,
    );
    const at = `messages[${index}].content`;
    return message["role"] === "assistant" && isEmpty
      ? { message: `Invalid value for '${at}': expected a string, got null.`, param: at, code: "invalid_type" }
      : null;
  }),
  pairs(reference, {
    orphan: (id, index) => ({
      message: `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'; no message just before messages[${index}] has a call '${id}'.`,
      param: `messages[${index}].role`,
    }),
    unanswered: (ids, index) => ({
      message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids of messages[${index}] did not have response messages: ${ids.join(", ")}`,
      param: `messages[${index}].tool_calls`,
    }),
  }),
];
