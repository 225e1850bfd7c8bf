import { type Agent, AgentFileError, agentFromFile, type AgentHost, type SubagentCall } from "@colloquy/agents";
import { noUsage, usageMonoid } from "@colloquy/machine";
import type { CommandContext } from "./command-context.ts";
import type { OptionValues } from "./options.ts";
import type { ConverseOptions } from "@colloquy/terminal";
import { counted, tokensOf } from "@colloquy/terminal";
import { named, oneLine } from "@colloquy/terminal";

/**
 * The agent that the options name; null where they name none. What is wrong with its file is printed, a line each.
 *
 * @throws Error for an agent that can't be used, or that takes more than a text
 */
export const agentOf = async (
  { agent: file, "allow-tools": allowTools }: Pick<OptionValues, "agent" | "allow-tools">,
  { errors }: Pick<CommandContext, "errors">,
): Promise<Agent | null> => {
  if (file === undefined) {
    if (allowTools === true)
      throw new Error("--allow-tools is about the tools of an agent, and there is no --agent FILE");
    return null;
  }
  try {
    const agent = await agentFromFile(file, { allowTools: allowTools === true });
    inputOf(agent);
    return agent;
  } catch (thrown) {
    if (!(thrown instanceof AgentFileError)) throw thrown;
    for (const line of thrown.message.split("\n")) errors.line(oneLine(line));
    throw new Error(`the agent in ${named(file)} can't be used`, { cause: thrown });
  }
};

/** How a line is asked of an agent with a signature: as its one input. Undefined for an agent without. */
export const askOf = (host: AgentHost): ConverseOptions["ask"] => {
  const field = inputOf(host.agent);
  return field === null ? undefined : (text, threadId) => host.run({ [field]: text }, { threadId });
};

/** The input that a typed line is; null for an agent without a signature. @throws Error for one that takes anything but one text */
const inputOf = ({ name, signature }: Agent): string | null => {
  if (signature === null) return null;
  const inputs = Object.entries(signature.inputs.properties);
  const [[field, schema] = [], ...others] = inputs;
  if (field !== undefined && others.length === 0 && schema?.["type"] === "string") return field;
  const given = inputs.map(([input, type]) => `${input}: ${JSON.stringify(type)}`).join(", ");
  throw new Error(`the agent "${name}" takes ${given}; a chat can only give it one text`);
};

/** What the subagents took in a turn, a line for each of them that was called. */
export const notesOf =
  (host: AgentHost) =>
  async (threadId: string, turn: number): Promise<readonly string[]> => {
    const calls = Object.entries(Object.groupBy(await host.calls(threadId, turn), ({ name }) => name));
    return calls.map(([name, of = []]) => `  ${name}: ${counted(of.length, "call")}, ${tokensOf(usageOf(of))}`);
  };

const usageOf = (calls: readonly SubagentCall[]): SubagentCall["usage"] =>
  calls.reduce((sum, { usage }) => usageMonoid.concat(sum, usage), noUsage);
