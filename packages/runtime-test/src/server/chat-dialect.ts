import { fromChatMessage } from "@colloquy/interchange";
import { type JsonObject, type Message, messagesFromSeed, type SeedDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import type { Dialect, Request } from "./answer.ts";
import { chatCompletion, chatStream } from "./chat-stream.ts";
import { problemOfOptions, problemOfRules, readBody } from "./request-body.ts";
import { pairs } from "./strict/rules/common-rules.ts";
import { eachMessage, type Rule } from "./strict/rules/rule.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** `POST /chat/completions` */
export const chatDialect: Dialect = {
  idPrefix: "chatcmpl-",
  half: (id) => `{"id":${JSON.stringify(id)},"object":"chat.completion","choices":[{"index":0,"mess`,
  read: (text) =>
    Either.chain((body: Body) => {
      const problem = problemOfOptions(body) ?? problemOfTools(body) ?? problemOfRules(rules, body);
      if (problem !== null) return Either.left(problem);
      return Either.map((messages: readonly Message[]) => requestOf(body, messages))(messagesOf(body));
    })(readBody(bodySchema, text)),
};

type Body = z.infer<typeof bodySchema>;

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

const bodySchema = z.looseObject({
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

const problemOfTools = (request: Body): WireError | null => {
  const forTools = ["tool_choice", "parallel_tool_calls"].find((name) => request[name] !== undefined);
  if (forTools !== undefined && request.tools === undefined) {
    return invalidRequest(`'${forTools}' is only allowed when 'tools' are specified.`, forTools);
  }
  return null;
};

const messagesOf = ({ messages }: Body): Either.Either<WireError, readonly Message[]> => {
  const drafts: SeedDraft[] = [];
  for (const [index, message] of messages.entries()) {
    const draft = fromChatMessage(message);
    if (Either.isLeft(draft)) return Either.left(invalidRequest(draft.left, `messages[${index}]`, "invalid_value"));
    drafts.push(draft.right);
  }
  return Either.mapLeft((reason: string) => invalidRequest(reason, "messages", "invalid_value"))(
    messagesFromSeed(0, drafts),
  );
};

const requestOf = (body: Body, messages: readonly Message[]): Request => {
  const { messages: _, model, stream, stream_options: options, ...parameters } = body;
  return {
    model,
    messages,
    // Parsed from JSON, and complete, because the schema keeps unknown fields.
    parameters: parameters as JsonObject,
    whole: chatCompletion,
    stream: stream === true ? (response, head) => chatStream(response, head, options?.include_usage === true) : null,
  };
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
