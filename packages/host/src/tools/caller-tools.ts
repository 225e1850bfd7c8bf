import { type CallerTool, ConfigurationError } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";
import { parametersOf, schemaKind, type ToolInput } from "./tool.ts";

/** A tool of the caller, which no host runs: a definition as for `tool`, without the members for running it. */
export interface CallerToolDefinition {
  readonly name: string;
  /** Tells the model what the tool does, and when to call it. */
  readonly description?: string;
  /**
   * The schema of its arguments, only for the model: they are passed on as the model wrote them. A Standard Schema with
   * a JSON Schema, as for `tool`, or `{ jsonSchema }`.
   */
  readonly input?: ToolInput;
}

/** Returns the tools of an ask as plain data, or why they are invalid. */
export const readCallerTools = (
  given: readonly CallerToolDefinition[],
): Either.Either<string, readonly CallerTool[]> => {
  // Callers in JavaScript may pass any value.
  const isList: boolean = Array.isArray(given);
  if (!isList) return Either.left("tools: it is no list; give [{ name, description, input }, …]");
  const tools: CallerTool[] = [];
  for (const [place, definition] of given.entries()) {
    const tool = readTool(`tools.${place}`, definition);
    if (Either.isLeft(tool)) return tool;
    tools.push(tool.right);
  }
  return Either.right(tools);
};

const readTool = (where: string, given: CallerToolDefinition): Either.Either<string, CallerTool> => {
  if (typeof given === "object" && given !== null && "run" in given)
    return Either.left(
      `${where} has a function to run; the tools of an ask are the caller's, who answers their calls by answerTool: give the host its own tools`,
    );
  const problem = problemOfOptions(where, given, definitionKinds);
  if (problem !== null) return Either.left(problem);
  const { name, description, input } = given;
  try {
    return Either.right({
      name,
      ...(description === undefined ? {} : { description }),
      ...(input === undefined ? {} : { parameters: parametersOf(`tool "${name}"`, input) }),
    });
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) return Either.left(`${where}: ${thrown.message}`);
    throw thrown;
  }
};

const definitionKinds: OptionKinds<CallerToolDefinition> = { name: "required", description: true, input: schemaKind };
