import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { checkOptions, checkValue, kinds } from "@colloquy/host/store";
import type { Agent } from "./file/agent.ts";
import { AgentFileError, AgentReader } from "./file/agent-reader.ts";
import type { AllowTools } from "./file/tools.ts";

export interface AgentFileOptions {
  /**
   * Whether tool modules may be loaded, which runs their code: all, or those for which a function returns true. Default
   * false: a file with tools is refused.
   */
  readonly allowTools?: AllowTools;
  /** The folder that must contain subagents and tools, after following links. Default: the folder of the file. */
  readonly root?: string;
}

/**
 * Reads an agent from a YAML file, or from Markdown with front matter, with its subagents and, if allowed, its tools.
 * Tool modules are loaded last, when no file has a problem.
 *
 * Rejects with an `AgentFileError` that lists all problems, with file, line and column.
 */
export const agentFromFile = async (path: string, options: AgentFileOptions = {}): Promise<Agent> => {
  checkValue("agentFromFile: path", path, kinds.text);
  checkOptions("agentFromFile", options, {
    allowTools: kinds.of("true, false or a function", (value) => kinds.flag.fits(value) || kinds.call.fits(value)),
    root: kinds.text,
  });
  const { allowTools = false, root } = options;
  const real = await realpath(path).catch(() => resolve(path));
  const folder = root === undefined ? dirname(real) : await realpath(root).catch(() => resolve(root));
  const reader = new AgentReader({ root: folder, allow: allowTools });
  const agent = await reader.agentIn(path);
  if (agent === null) throw new AgentFileError(reader.problems);
  return agent;
};
