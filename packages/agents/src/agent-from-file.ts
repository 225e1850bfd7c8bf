import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { checkOptions, checkValue, kinds } from "@colloquy/host/store";
import type { Agent } from "./file/agent.ts";
import { AgentFileError } from "./file/agent-file-error.ts";
import { AgentReader } from "./file/agent-reader.ts";
import type { AllowTools } from "./file/tools.ts";

/** How the file of an agent is read. */
export interface AgentFileOptions {
  /** Whether modules of tools may be loaded, which runs their code: all, or those for which a function says so. Default false: a file with tools is refused. */
  readonly allowTools?: AllowTools;
  /** The folder that subagents and tools must lie in, links followed. Default: that of the file. */
  readonly root?: string;
}

/**
 * Reads an agent from a YAML file, or from Markdown with front matter, with its subagents and, where that is allowed, its
 * tools. Modules of tools are loaded last, when nothing is wrong with any file.
 *
 * Rejects with an `AgentFileError` that names all that is wrong, with file, line and column.
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
