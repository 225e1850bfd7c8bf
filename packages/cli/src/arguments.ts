import { parseArgs } from "node:util";
import { commandNamed } from "./commands.ts";
import { help, helpOf } from "./help.ts";
import { optionKinds } from "./options.ts";

/** Options by their names, and the words between them. */
export type Arguments = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: typeof optionKinds }>
>;

/** @throws what `parseArgs` throws, for options that there are none of or that lack a value */
export const parseArguments = (args: readonly string[]): Arguments =>
  parseArgs({ args: withValues(args), allowPositionals: true, options: optionKinds });

/**
 * The help or the version, where they are all that is asked for; null where a command is to run, or to be refused. It
 * loads no package, not even what commands print with: finding that took longer than all that is done here.
 *
 * @param isTerminal Whether a person types and reads. Looked up only where it matters: it opens the input.
 */
export const textAskedFor = async (args: readonly string[], isTerminal: () => boolean): Promise<string | null> => {
  const given = parsed(args);
  if (given === null) return null;
  const { values, positionals } = given;
  if (values.version === true) return `${await version()}\n`;
  const [name] = positionals;
  // In a terminal, a conversation is what is wanted.
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
 * `--at -1` as `--at=-1`: a negative number is a value, which is then refused by its name. And `--resume` without a thread as
 * `--resume=`.
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
