import { type Command, commands } from "./commands.ts";

/** All commands. */
export const help = (): string => `colloquy: converse with a language model from the terminal

${table([
  ["colloquy", "a conversation, in a terminal"],
  ...Object.values(commands).flatMap(({ usage }) => usage.map(([call, does]) => [`colloquy ${call}`, does] as const)),
  ["colloquy COMMAND --help", "the options of a command"],
  ["colloquy --version", "the version"],
])}`;

/** One command, with its options. */
export const helpOf = ({ usage, options, about }: Command): string => {
  const rows = Object.entries(options).map(
    ([name, [value, does]]) => [`--${name}${value === "" ? "" : ` ${value}`}`, does] as const,
  );
  const calls = table(usage.map(([call, does]) => [`colloquy ${call}`, does]));
  const paragraphs =
    about === undefined
      ? ""
      : `\n${about
          .split("\n")
          .map((line) => wrapped(line, 100).join("\n"))
          .join("\n")}\n`;
  return `${calls}\n${table(rows)}${paragraphs}`;
};

const table = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.min(Math.max(...rows.map(([left]) => left.length)), 40);
  return rows
    .map(([left, right]) => {
      const [first = "", ...rest] = wrapped(right, 98 - width);
      const start = left.length > width ? `  ${left}\n${" ".repeat(width + 4)}` : `  ${left.padEnd(width)}  `;
      return `${start}${[first, ...rest].join(`\n${" ".repeat(width + 4)}`)}\n`;
    })
    .join("");
};

/** Lines of so many characters, broken between words. */
const wrapped = (text: string, width: number): string[] =>
  text.split(" ").reduce<string[]>((lines, word) => {
    const line = lines.at(-1);
    return line !== undefined && line.length + word.length < width
      ? [...lines.slice(0, -1), `${line} ${word}`]
      : [...lines, word];
  }, []);
