import type { AskOptions } from "@colloquy/host";
import type { CallLlm, CallTool } from "@colloquy/machine";
import type { Random } from "../world/random.ts";
import type { ToolCallScript } from "../../models/index.ts";

/** The tool that some simulated asks have. Only the caller answers its calls. */
const name = "ask_user";

/** Returns the tools of an ask, from a random stream of their own. */
export const callersToolsFrom = (random: Random): { readonly tools?: NonNullable<AskOptions["tools"]> } =>
  random.chance(0.15)
    ? { tools: [{ name, description: "Asks the user.", input: { jsonSchema: { type: "object" } } }] }
    : {};

/** Returns a model's call of the tool, if it was offered; mostly none. */
export const callersCallFrom = (random: Random, { tools, step }: CallLlm): readonly ToolCallScript[] => {
  const isOffered = tools?.some((tool) => tool.name === name) === true;
  if (!isOffered || step > 3 || random.chance(0.4)) return [];
  return [{ name, arguments: { what: "Which one?" }, id: "call_0" }];
};

/** Returns the caller's answer to a call that is answered. */
export const callersAnswer = ({ id }: Pick<CallTool, "id">): string => `What was wanted for ${id}.`;
