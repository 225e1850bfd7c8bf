import type { Tool, ToolCall } from "@colloquy/host";
import type { McpTools } from "../../src/mcp/index.ts";

/** Calls a tool of a server as a host does: it validates the arguments first. */
export const callTool = async (
  { tools }: Pick<McpTools, "tools">,
  name: string,
  input: Readonly<Record<string, unknown>> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> => {
  const found: Tool | undefined = tools.find(({ declaration }) => declaration.name === name);
  if (found === undefined) throw new Error(`there is no tool "${name}"`);
  return found.run(input, callWith(signal));
};

const callWith = (signal: AbortSignal): ToolCall => ({
  signal,
  idempotencyKey: "key",
  threadId: "thread",
  turn: 1,
  step: 1,
  callId: "1.1.0",
  state: () => {
    throw new Error("no tool of a server looks at the state");
  },
  toolContext: {},
});

export const nameOf = ({ declaration }: Tool): string => declaration.name;
