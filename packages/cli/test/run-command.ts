import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommand } from "../src/command.ts";

/** Runs `colloquy` with these arguments, and nobody at a terminal. */
export const run = async (
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly output: string; readonly error: string }> => {
  const output = new PassThrough();
  const error = new PassThrough();
  const { signal } = new AbortController();
  const setting = { input: Readable.from([]), output, error, isTerminal: false, environment: {}, signal };
  const exitCode = await runCommand(args, setting);
  output.end();
  error.end();
  return { exitCode, output: await text(output), error: await text(error) };
};
