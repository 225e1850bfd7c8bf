import { parseArgs } from "node:util";
import { commandNamed } from "./commands.ts";
import { help, helpOf } from "./help.ts";
import { optionKinds } from "./options.ts";

/** The options by name, and the words between them. */
export type Arguments = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: typeof optionKinds }>
>;

/** @throws the error of `parseArgs` for unknown options and for missing values */
export const parseArguments = (args: readonly string[]): Arguments =>
  parseArgs({ args: withValues(args), allowPositionals: true, options: optionKinds });

/**
 * Returns the help or the version, if only that is requested; null if a command must run, or be refused. It loads no
 * package, not even the printing functions, because resolving one took longer than everything else here.
 *
 * @param isTerminal Returns whether a person types and reads. Called only if it matters, because it opens the input.
 */
export const textAskedFor = async (args: readonly string[], isTerminal: () => boolean): Promise<string | null> => {
  const given = parsed(args);
  if (given === null) return null;
  const { values, positionals } = given;
  if (values.version === true) return `${await version()}\n`;
  const [name] = positionals;
  // In a terminal, a bare `colloquy` starts a conversation.
  if (name === undefined) return values.help === true || !isTerminal() ? help() : null;
  const command = commandNamed(name);
  return values.help === true && command !== undefined ? helpOf(command) : null;
};

const parsed = (args: readonly string[]): Arguments | null => {
  try {
    return parseArguments(args);
  } catch {
    return null;
  }
};

/**
 * Rewrites `--at -1` to `--at=-1`, so that a negative number counts as a value, and can be refused with the option's
 * name. Rewrites `--resume` without a thread to `--resume=`.
 */
const withValues = (args: readonly string[]): string[] =>
  args.reduce<string[]>((given, argument, index) => {
    const option = given.at(-1);
    const next = args[index + 1];
    if (argument === "--resume" && (next === undefined || next.startsWith("--"))) return [...given, "--resume="];
    if (option === undefined || !/^--[^=]+$/.test(option) || !/^-\d/.test(argument)) return [...given, argument];
    return [...given.slice(0, -1), `${option}=${argument}`];
  }, []);

const version = async (): Promise<string> => {
  const { readFileSync } = await import("node:fs");
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
};
