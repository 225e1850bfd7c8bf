import type { AskOptions } from "@colloquy/host";
import type { CallLlm, CallTool } from "@colloquy/machine";
import type { Random } from "../world/random.ts";
import type { ToolCallScript } from "../../models/index.ts";

/** The tool that simulated asks bring now and then; nobody but the caller answers its calls. */
const name = "ask_user";

/** The tools of an ask, drawn from numbers of their own. */
export const callersToolsFrom = (random: Random): { readonly tools?: NonNullable<AskOptions["tools"]> } =>
  random.chance(0.15)
    ? { tools: [{ name, description: "Asks the user.", input: { jsonSchema: { type: "object" } } }] }
    : {};

/** The call that a model makes of it where it was offered; none in most other cases. */
export const callersCallFrom = (random: Random, { tools, step }: CallLlm): readonly ToolCallScript[] => {
  const isOffered = tools?.some((tool) => tool.name === name) === true;
  if (!isOffered || step > 3 || random.chance(0.4)) return [];
  return [{ name, arguments: { what: "Which one?" }, id: "call_0" }];
};

/** What the caller answers to a call, where it has something to answer. */
export const callersAnswer = ({ id }: Pick<CallTool, "id">): string => `What was wanted for ${id}.`;
