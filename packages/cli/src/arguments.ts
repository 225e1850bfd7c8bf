import { parseArgs } from "node:util";
import { commandNamed, type Command, commands } from "./commands.ts";
import { optionKinds } from "./options.ts";

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

export const help = (): string => `colloquy: converse with a language model from the terminal

${table([
  ["colloquy", "a conversation, in a terminal"],
  ...Object.values(commands).flatMap(({ usage }) => usage.map(([call, does]) => [`colloquy ${call}`, does] as const)),
  ["colloquy COMMAND --help", "the options of a command"],
  ["colloquy --version", "the version"],
])}`;

export const helpOf = ({ usage, options, sections = {}, examples = [], about }: Command): string => {
  const rows = Object.entries(options).map(([name, [value, does]]) => {
    const section = Object.entries(sections).find(([first]) => first === name)?.[1];
    const heading = section === undefined ? "" : `\n${section}\n`;
    return `${heading}${table([[`--${name}${value === "" ? "" : ` ${value}`}`, does]])}`;
  });
  return [
    table(usage.map(([call, does]) => [`colloquy ${call}`, does])),
    rows.join("").replace(/^\n/, ""),
    examples.length === 0 ? "" : `Examples\n${examples.map((line) => `  ${line}\n`).join("")}`,
    about === undefined ? "" : `${wrappedText(about)}\n`,
  ]
    .filter((block) => block !== "")
    .join("\n");
};

const wrappedText = (text: string): string =>
  text
    .split("\n")
    .map((line) => wrapped(line, columns).join("\n"))
    .join("\n");

/** The width of the narrowest terminals in use. */
const columns = 79;
const leftColumns = 24;

/** Formats rows; a text that is longer than the left column gets a separate row. */
const table = (rows: readonly (readonly [string, string])[]): string => {
  const indent = `\n${" ".repeat(leftColumns + 4)}`;
  return rows
    .map(([left, right]) => {
      const lines = wrapped(right, columns - leftColumns - 4).join(indent);
      return left.length > leftColumns ? `  ${left}${indent}${lines}\n` : `  ${left.padEnd(leftColumns)}  ${lines}\n`;
    })
    .join("");
};

const wrapped = (text: string, width: number): string[] =>
  text.split(" ").reduce<string[]>((lines, word) => {
    const line = lines.at(-1);
    return line !== undefined && line.length + word.length < width
      ? [...lines.slice(0, -1), `${line} ${word}`]
      : [...lines, word];
  }, []);
