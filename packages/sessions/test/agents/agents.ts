import { join } from "node:path";
import { type LlmHandler, type LlmOutcome, memoryStore, type Store } from "@colloquy/runtime-node";
import { textOf } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { type AgentHost, agentHost, type AgentHostOptions, agentFromFile } from "../../src/agents/index.ts";
import { folderOf } from "./agent-files.ts";

/** How many tokens each call of these models reports. */
export const tokensOfCall = 10;

const completed = (reply: Extract<LlmOutcome, { readonly type: "completed" }>["reply"]): LlmOutcome => ({
  type: "completed",
  reply,
  finishReason: "stop",
  usage: { totalTokens: tokensOfCall },
});

/**
 * Agents that pass on, and agents that say what they heard. One whose instructions are `pass on to A` calls A for each word
 * of what it is asked, at once, and answers with the results; any other says which words its prompt shows, oldest first.
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

/** Two agents: `top` passes on to `helper`, whose memory is as it is given. */
export const pair = (memory: string): Readonly<Record<string, string>> => ({
  "agent.yaml": `name: top\ninstructions: pass on to helper\ncompression: none\nsubagents: [{ file: ./helper.yaml, memory: ${memory} }]`,
  "helper.yaml": "name: helper\ninstructions: listen\ncompression: none",
});

/** The host of an agent from files, on a clock that stands still. */
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
