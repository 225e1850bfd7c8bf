import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import type { LlmHandler } from "@colloquy/runtime-node";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { onTestFinished } from "vitest";
import { FakeTerminal } from "../../packages/cli/test/terminal/kit/fake-terminal.ts";
import { type Ran, runIn } from "../../packages/cli/test/run-command.ts";

/** Makes a folder with these files, by their paths, until the test ends. */
export const folderOf = (files: Readonly<Record<string, string>> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-coming-from-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
};

/** The surroundings of a command line. */
export interface Place {
  /** The folder that file names are relative to. */
  readonly folder?: string;
  /** The model that answers. */
  readonly model: LlmHandler;
  /** The lines from the pipe. */
  readonly lines?: readonly string[];
}

/** Runs a command line, such as `colloquy chat "Hi?" --store threads.db`, without a terminal. */
export const colloquy = async (command: string, { folder = folderOf(), model, lines = [] }: Place): Promise<Ran> => {
  await using server = await loopbackServer({ model });
  const input = Readable.from(lines.map((line) => `${line}\n`));
  return await runIn({ input, environment: { OPENAI_BASE_URL: server.url } }, ...argumentsIn(command, folder));
};

/** Runs a command line at a terminal, where the test types. The terminal closes when the test ends. */
export const atTerminal = async (command: string, { folder = folderOf(), model }: Place) => {
  const server = await loopbackServer({ model });
  const terminal = new FakeTerminal({ columns: 120, rows: 30 });
  const { input, output } = terminal;
  const ending = new AbortController();
  const setting = { input, output, isTerminal: true, signal: ending.signal };
  const environment = { OPENAI_BASE_URL: server.url, NO_COLOR: "1" };
  const ran = runIn({ ...setting, environment }, ...argumentsIn(command, folder));
  onTestFinished(async () => {
    ending.abort();
    await ran;
    await server.close();
    terminal.cells.terminal.dispose();
  });
  await terminal.until(/Status: Ready|new thread/);
  return { terminal, server, ran };
};

/** Returns the words of a command line after the first; file names get the folder's path. */
const argumentsIn = (command: string, folder: string): readonly string[] => {
  const [, ...words] = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
  return words.map((word) => (/\.(?:yaml|db|json|jsonl|mjs)$/.test(word) ? join(folder, word) : word));
};
