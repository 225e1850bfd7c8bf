import * as Either from "fp-ts/lib/Either.js";
import type { z } from "zod";
import { type Fields, firstOf } from "./strict/rules/json.ts";
import { refusalBy, type Rule } from "./strict/rules/rule.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** Parses a body by a schema, or returns the first error with which the real server would refuse it. */
export const readBody = <Output>(schema: z.ZodType<Output>, text: string): Either.Either<WireError, Output> => {
  const parsed = parseJson(text);
  if (Either.isLeft(parsed)) return parsed;
  const checked = schema.safeParse(parsed.right);
  return checked.success
    ? Either.right(checked.data)
    : Either.left(errorOfIssue(checked.error.issues[0], parsed.right));
};

/** Returns the error about the options of streams and tools, which all dialects share; or null. */
export const problemOfOptions = (request: {
  readonly stream?: boolean | null | undefined;
  readonly stream_options?: unknown;
}): WireError | null =>
  request.stream_options !== undefined && request.stream_options !== null && request.stream !== true
    ? invalidRequest("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    : null;

export const problemOfRules = (rules: readonly Rule[], request: Fields): WireError | null =>
  firstOf(rules, (rule) => {
    const refusal = refusalBy(rule, request);
    if (refusal === null) return null;
    const { message, param = null, code } = refusal;
    return invalidRequest(message, param, code === undefined ? null : String(code));
  });

const parseJson = (text: string): Either.Either<WireError, unknown> => {
  try {
    return Either.right(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return Either.left(invalidRequest(`We could not parse the JSON body of your request: ${reason}`, null));
  }
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

/** Returns the deepest issue of a union: it is in the intended branch. */
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

/** Formats a path: `messages[1].content[0].type` */
const textOfPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    // An object by the check; any member may be looked up.
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    body,
  );

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
};
