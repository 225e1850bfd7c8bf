import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type AgentFileOptions, AgentFileError, agentFromFile } from "../../src/agents/index.ts";

/** Makes a folder with these files, by their paths, until the test ends. */
export const folderOf = (files: Readonly<Record<string, string | Uint8Array>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-agents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
};

/**
 * Returns the problems of an agent, a line each; none if it can be read. The lines name files by their given paths.
 */
export const problemsOf = async (
  files: Readonly<Record<string, string | Uint8Array>>,
  path = "agent.yaml",
  options: AgentFileOptions = {},
): Promise<readonly string[]> => problemsIn(folderOf(files), path, options);

export const problemsIn = async (
  folder: string,
  path: string,
  options: AgentFileOptions = {},
): Promise<readonly string[]> => {
  try {
    await agentFromFile(join(folder, path), options);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof AgentFileError)) throw thrown;
    return thrown.message.replaceAll(`${folder}/`, "").replaceAll(folder, "FOLDER").split("\n");
  }
};
