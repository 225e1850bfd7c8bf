import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommand } from "../src/command.ts";
import type { CommandSetting } from "../src/command-context.ts";

/** The outcome of a command. */
export interface Ran {
  readonly exitCode: number;
  readonly output: string;
  readonly error: string;
}

/** Runs `colloquy` with these arguments, without a terminal. */
export const run = (...args: readonly string[]): Promise<Ran> => runIn({}, ...args);

/** Runs `colloquy` with these arguments in a setting. */
export const runIn = async (setting: Partial<CommandSetting>, ...args: readonly string[]): Promise<Ran> => {
  const output = new PassThrough();
  const error = new PassThrough();
  const exitCode = await runCommand(args, {
    input: Readable.from([]),
    output,
    error,
    isTerminal: false,
    environment: {},
    signal: new AbortController().signal,
    ...setting,
  });
  output.end();
  error.end();
  return { exitCode, output: await text(output), error: await text(error) };
};
