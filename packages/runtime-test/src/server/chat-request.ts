import type { JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import { problemOfRounds } from "./rounds.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** A request for a chat completion, as far as this server reads it. */
export interface ChatRequest {
  readonly model: string;
  /** As they came. */
  readonly messages: readonly JsonObject[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** All other fields, as they came. */
  readonly parameters: JsonObject;
}

/** The request in a body, or the error with which the real server would refuse it: the first one found. */
export const parseChatRequest = (text: string): Either.Either<WireError, ChatRequest> => {
  const parsed = parseJson(text);
  if (Either.isLeft(parsed)) return parsed;
  const checked = requestSchema.safeParse(parsed.right);
  if (!checked.success) return Either.left(errorOfIssue(checked.error.issues[0], parsed.right));
  const { messages, model, stream, stream_options: options, ...parameters } = checked.data;
  const problem = problemOfParameters(checked.data) ?? problemOfRounds(messages);
  if (problem !== null) return Either.left(problem);
  return Either.right({
    model,
    // Parsed from JSON, and kept whole: the schema leaves unknown fields in place.
    messages: messages as readonly JsonObject[],
    stream: stream ?? false,
    includeUsage: options?.include_usage ?? false,
    // As above.
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

const parseJson = (text: string): Either.Either<WireError, unknown> => {
  try {
    return Either.right(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return Either.left(invalidRequest(`We could not parse the JSON body of your request: ${reason}`, null));
  }
};

const problemOfParameters = (request: z.infer<typeof requestSchema>): WireError | null => {
  if (request.stream_options !== undefined && request.stream_options !== null && request.stream !== true) {
    return invalidRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  }
  const forTools = ["tool_choice", "parallel_tool_calls"].find((name) => request[name] !== undefined);
  if (forTools !== undefined && request.tools === undefined) {
    return invalidRequest(`'${forTools}' is only allowed when 'tools' are specified.`, forTools);
  }
  return null;
};

const errorOfIssue = (issue: z.core.$ZodIssue | undefined, body: unknown): WireError => {
  if (issue === undefined) return invalidRequest("The request is invalid.", null);
  const innermost = deepest(issue);
  const param = textOfPath(innermost.path);
  if (param === "")
    return invalidRequest(`Invalid body: expected an object, got ${kindOf(body)}.`, null, "invalid_type");
  const value = valueAt(body, innermost.path);
  if (value === undefined) {
    return invalidRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  }
  if (innermost.code === "too_small" && Array.isArray(value)) {
    return invalidRequest(`Invalid '${param}': empty array. Expected at least one element.`, param, "empty_array");
  }
  if (innermost.code === "invalid_type" || innermost.code === "invalid_union") {
    const got = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
    return invalidRequest(
      `Invalid value for '${param}': ${expectation(innermost)}, got ${got}.`,
      param,
      "invalid_type",
    );
  }
  return invalidRequest(`Invalid value for '${param}': ${innermost.message}.`, param, "invalid_value");
};

/** Of an alternative, the issue that lies deepest: it is in the branch that was meant. */
const deepest = (issue: z.core.$ZodIssue): z.core.$ZodIssue => {
  if (issue.code !== "invalid_union") return issue;
  const nested = issue.errors.flat().map((inner) => deepest({ ...inner, path: [...issue.path, ...inner.path] }));
  return nested.reduce((best, inner) => (inner.path.length > best.path.length ? inner : best), issue);
};

const expectation = (issue: z.core.$ZodIssue): string => {
  if (issue.code === "invalid_type") return `expected ${issue.expected === "int" ? "a whole number" : issue.expected}`;
  if (issue.path.at(-1) === "role") return "expected one of 'system', 'developer', 'user', 'assistant' and 'tool'";
  return "expected a string or an array of content parts";
};

/** `messages[1].content[0].type` */
const textOfPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    // An object by the check; which members it has is what is asked.
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    body,
  );

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
};
