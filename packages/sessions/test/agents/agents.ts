import { join } from "node:path";
import { type LlmHandler, type LlmOutcome, memoryStore, type Store } from "@colloquy/runtime-node";
import { textOf } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { type AgentHost, agentHost, type AgentHostOptions, agentFromFile } from "../../src/agents/index.ts";
import { folderOf } from "./agent-files.ts";

/** The number of tokens that each model call reports. */
export const tokensOfCall = 10;

const completed = (reply: Extract<LlmOutcome, { readonly type: "completed" }>["reply"]): LlmOutcome => ({
  type: "completed",
  reply,
  finishReason: "stop",
  usage: { totalTokens: tokensOfCall },
});

/**
 * Plays agents. One with the instructions `pass on to A` calls A at once for each word of its task, and answers with
 * the results. Any other answers with the words in its prompt, oldest first.
 */
export const passing: LlmHandler = async ({ messages }) => {
  const [system, ...rest] = messages;
  const instructions = system?.role === "system" ? textOf(system) : "";
  const last = rest.at(-1);
  const to = /^pass on to (\w+)/.exec(instructions)?.[1];
  if (to !== undefined && last?.role === "user") {
    const words = textOf(last).split(" ");
    const calls = words.map((word) => ({ id: null, name: to, arguments: JSON.stringify({ message: word }) }));
    return completed({ toolCalls: calls });
  }
  const results = rest
    .slice(rest.findLastIndex(({ role }) => role === "user") + 1)
    .filter(({ role }) => role === "tool");
  if (to !== undefined) return completed({ content: results.map(textOf).join(" | ") });
  return completed({
    content: rest
      .filter(({ role }) => role === "user")
      .map(textOf)
      .join(","),
  });
};

/** Returns the files of two agents: `top` passes on to `helper`, which has this memory. */
export const pair = (memory: string): Readonly<Record<string, string>> => ({
  "agent.yaml": `name: top\ninstructions: pass on to helper\ncompression: none\nsubagents: [{ file: ./helper.yaml, memory: ${memory} }]`,
  "helper.yaml": "name: helper\ninstructions: listen\ncompression: none",
});

/** Makes the host of an agent from files, on a virtual clock. */
export const hostOf = async (
  files: Readonly<Record<string, string>>,
  options: Partial<AgentHostOptions> = {},
): Promise<{ readonly host: AgentHost; readonly store: Store }> => {
  const agent = await agentFromFile(join(folderOf(files), "agent.yaml"));
  const clock = options.clock ?? virtualClock();
  const store = options.store ?? memoryStore({ clock });
  const llm = options.models === undefined ? { llm: passing } : {};
  return { host: agentHost(agent, { clock, ids: sequentialIds(), ...llm, ...options, store }), store };
};
