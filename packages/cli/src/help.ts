import { type Command, commands } from "./commands.ts";

/** Returns the help of all commands. */
export const help = (): string => `colloquy: converse with a language model from the terminal

${table([
  ["colloquy", "a conversation, in a terminal"],
  ...Object.values(commands).flatMap(({ usage }) => usage.map(([call, does]) => [`colloquy ${call}`, does] as const)),
  ["colloquy COMMAND --help", "the options of a command"],
  ["colloquy --version", "the version"],
])}`;

/** Returns the help of one command, with its options. */
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

/** Wraps each line of a text. */
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

/** Splits a text into lines of a width, between words. */
const wrapped = (text: string, width: number): string[] =>
  text.split(" ").reduce<string[]>((lines, word) => {
    const line = lines.at(-1);
    return line !== undefined && line.length + word.length < width
      ? [...lines.slice(0, -1), `${line} ${word}`]
      : [...lines, word];
  }, []);
