import { parseArgs } from "node:util";

import type { Option } from "./options.ts";

/** A command of this folder: `pnpm NAME`. */
export interface Command<Options extends OptionsByName> {
  readonly name: string;
  readonly options: Options;
  /** Runs the command. `again` returns the command line that repeats it with other values of its options. */
  readonly run: (values: ValuesOf<Options>, again: Again) => Promise<void> | void;
}

export type Again = (changes: Readonly<Record<string, string | number>>) => string;

/** Reads this process's arguments and runs a command. Exits with 2 and the usage if an argument is invalid. */
export const runCommand = async <Options extends OptionsByName>(command: Command<Options>): Promise<void> => {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) return console.log(usageOf(command));
  const call = callOf(command, args);
  if (typeof call === "string") {
    console.error(`${call}\n\n${usageOf(command)}`);
    process.exitCode = 2;
    return;
  }
  await command.run(call.values, call.again);
};

export type OptionsByName = Readonly<Record<string, Option<unknown>>>;

export type ValuesOf<Options> = {
  readonly [Name in keyof Options]: Options[Name] extends Option<infer Value> ? Value : never;
};

interface Call<Options> {
  readonly values: ValuesOf<Options>;
  readonly again: Again;
}

/** Reads the arguments. Returns an error text if they are invalid. */
const callOf = <Options extends OptionsByName>(
  { name, options }: Command<Options>,
  args: readonly string[],
): Call<Options> | string => {
  try {
    const all = Object.entries<Option<unknown>>(options);
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: all.some(([, { kind }]) => kind === "positional"),
      options: Object.fromEntries(
        all.flatMap(([option, { kind }]) => {
          if (kind === "positional") return [];
          return [[option, { type: kind === "switch" ? ("boolean" as const) : ("string" as const), multiple: true }]];
        }),
      ),
    });
    const given = (option: string): readonly string[] => [values[option] ?? []].flat().map(String);
    const read = all.map(([option, { kind, read }]) => [
      option,
      read(kind === "positional" ? positionals : given(option), option),
    ]);
    return {
      // Each option was read by its own reader.
      values: Object.fromEntries(read) as ValuesOf<Options>,
      again: (changes) => {
        const changed = Object.keys(changes);
        const kept = Object.keys(values).filter((option) => !changed.includes(option));
        return [
          `pnpm ${name}`,
          ...positionals.map(quoted),
          // Several commands report together, so a change may name an option that this one lacks.
          ...Object.entries(changes)
            .filter(([option]) => Object.hasOwn(options, option))
            .map(([option, value]) => `--${option} ${quoted(String(value))}`),
          ...kept.flatMap((option) =>
            given(option).map((value) =>
              options[option]?.kind === "switch" ? `--${option}` : `--${option} ${quoted(value)}`,
            ),
          ),
        ].join(" ");
      },
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const usageOf = ({ name, options }: Pick<Command<OptionsByName>, "name" | "options">): string => {
  const rows = Object.entries(options).map(
    ([option, { kind, placeholder, about, repeats = false, isRequired = false }]) => {
      const term = kind === "positional" ? placeholder : `--${option}${kind === "switch" ? "" : ` ${placeholder}`}`;
      return { term, about, synopsis: `${isRequired ? term : `[${term}]`}${repeats ? "..." : ""}` };
    },
  );
  const width = Math.max(...rows.map(({ term }) => term.length));
  const lines = rows.map(({ term, about }) => {
    const [first, ...others] = about.split("\n");
    return [`  ${term.padEnd(width)}  ${first}`, ...others.map((line) => `${" ".repeat(width + 4)}${line}`)].join("\n");
  });
  return `Usage: pnpm ${name} ${rows.map(({ synopsis }) => synopsis).join(" ")}\n\n${lines.join("\n")}`;
};

/** Quotes a text as one argument of a shell. */
const quoted = (text: string): string =>
  /^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
