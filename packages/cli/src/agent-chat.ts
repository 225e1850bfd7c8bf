import { type Agent, AgentFileError, agentFromFile, type AgentHost, type SubagentCall } from "@colloquy/agents";
import { noUsage, usageMonoid } from "@colloquy/machine";
import type { CommandContext } from "./command-context.ts";
import type { OptionValues } from "./options.ts";
import { counted, tokensOf } from "./terminal/figures.ts";
import { named, oneLine } from "./terminal/printable.ts";

/**
 * The agent that the options name; null where they name none. What is wrong with its file is printed, a line each.
 *
 * @throws Error for an agent that can't be used
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
    return await agentFromFile(file, { allowTools: allowTools === true });
  } catch (thrown) {
    if (!(thrown instanceof AgentFileError)) throw thrown;
    for (const line of thrown.message.split("\n")) errors.line(oneLine(line));
    throw new Error(`the agent in ${named(file)} can't be used`, { cause: thrown });
  }
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
