import type { Tool } from "@colloquy/host";
import { keymapOf, themeNamed } from "@colloquy/cli/terminal";
import { ArgumentError } from "./exit-code.ts";
import { exclusive, type OptionValues } from "./options.ts";

/** @throws ArgumentError for options that contradict each other */
export const checkTogether = (options: OptionValues): void => {
  for (const [one, other] of exclusive) {
    if (options[one] !== undefined && options[other] !== undefined)
      throw new ArgumentError(`--${one} and --${other} exclude each other; give one of them`);
  }
  const { keys = "standard", theme = "dark", agent, mcp = [] } = options;
  // Both throw for an unknown name.
  keymapOf(keys);
  themeNamed(theme);
  if (options["allow-tools"] === true && agent === undefined && mcp.length === 0)
    throw new ArgumentError(
      "--allow-tools is about the tools of an agent or of MCP servers: there is no --agent and no --mcp",
    );
  if (options.reason !== undefined && options.deny === undefined)
    throw new ArgumentError("--reason says why a call is denied: give --deny as well");
};

/** @throws ArgumentError for tools that the model cannot call, and for missing tools that are needed */
export const checkTools = (
  { provider, react }: Pick<OptionValues, "provider" | "react">,
  tools: readonly Tool[],
  agent: { readonly tools: readonly Tool[]; readonly subagents: readonly unknown[] } | null,
): void => {
  const all = [...tools, ...(agent?.tools ?? []), ...(agent?.subagents ?? [])];
  if (provider === "completion" && all.length > 0)
    throw new ArgumentError(
      "--provider completion goes on with a text, and calls no tools: leave out --tools and --mcp, and an --agent that has some",
    );
  if (react === true && tools.length === 0)
    throw new ArgumentError("--react is about tools, and there are none: give --tools or --mcp");
};
