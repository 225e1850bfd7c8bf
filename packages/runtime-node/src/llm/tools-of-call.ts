import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { RequestBody } from "./transport/request-body.ts";

/**
 * The declarations of the tools that a call offers, or in words which one is missing. A call that does not say what it
 * offers (a thread of 0.1) offers all that is declared.
 *
 * @param handler The name of the handler.
 * @param declared What the host hands over.
 * @param given What the handler was given, where it takes any itself.
 */
export const offeredTools = (
  handler: string,
  { tools }: CallLlm,
  declared: readonly ToolDeclaration[],
  given?: readonly ToolDeclaration[],
): Either.Either<string, readonly ToolDeclaration[]> => {
  if (tools === undefined) return Either.right(declared.length > 0 ? declared : (given ?? []));
  const found = tools.map(({ name }) => [...declared, ...(given ?? [])].find((tool) => tool.name === name));
  const missing = tools.find((_, index) => found[index] === undefined);
  if (missing === undefined) return Either.right(found.filter((tool) => tool !== undefined));
  return Either.left(
    `the call offers the tool "${missing.name}", and ${handler} has no declaration of it: hand it over in the context's tools${given === undefined ? "" : `, or give ${handler} tools`}`,
  );
};

/** What a tool takes. Some servers refuse a function that does not say it. */
export const toolParameters = ({ parameters }: ToolDeclaration): JsonObject =>
  parameters ?? { type: "object", properties: {} };

/** A summary is written without tools; servers refuse parameters about calls where there is nothing to call. */
export const withoutTools = (body: RequestBody): RequestBody =>
  Object.fromEntries(Object.entries(body).filter(([parameter]) => !ofTools.has(parameter)));

const ofTools: ReadonlySet<string> = new Set([
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tool_calls",
  "functions",
  "function_call",
]);
