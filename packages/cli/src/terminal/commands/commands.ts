import { named } from "../text/printable.ts";
import type { CompletableCommand } from "../input/completion.ts";
import { rowsView } from "../views/rows-view.ts";
import type { Command, CommandTarget } from "./command.ts";
import { lookCommands } from "./look-commands.ts";
import { settingCommands } from "./setting-commands.ts";
import { threadCommands } from "./thread-commands.ts";
import { turnCommands } from "./turn-commands.ts";

/** All commands, in the order of the help. */
export const slashCommands: readonly Command[] = [
  {
    name: "/help",
    usage: "",
    help: "lists the commands",
    perform: ({ open }) => open(rowsView("Commands", helpRows())),
  },
  ...lookCommands,
  ...turnCommands,
  ...threadCommands,
  ...settingCommands,
];

/** Performs a line such as `/undo` or `/thread holidays`. Rejects with the problem of the line. */
export const performCommand = async (target: CommandTarget, line: string): Promise<void> => {
  const [name, argument] = partsOf(line);
  const command = commandNamed(name);
  if (command === undefined) throw new Error(`there is no command ${named(name)}; /help lists them`);
  await command.perform(target, argument);
};

/**
 * Returns the command line for a typed line: with a slash, or one of the bare words that count as commands. Null if it
 * is not a command.
 */
export const commandIn = (line: string): string | null => {
  const text = line.trim();
  if (/^\/[^\s/]*(?:\s|$)/.test(text)) return text;
  const [, word = "", rest = ""] = /^(\w+)(?:\s+(\S+))?$/.exec(text.toLowerCase()) ?? [];
  if (rest === "") return bareWords.get(word) ?? null;
  const name = bareWordsWithName.get(word);
  return name === undefined ? null : `${name} ${text.split(/\s+/).at(-1)}`;
};

/** Returns the commands for completion, with the known values of their arguments. */
export const completableCommands = (offers: ReadonlyMap<string, readonly string[]>): readonly CompletableCommand[] =>
  slashCommands.map(({ name, usage, help }) => ({
    name,
    usage: `${name} ${usage}`.trim(),
    does: help,
    complete: (prefix) => (offers.get(name) ?? []).filter((offer) => offer.startsWith(prefix)),
  }));

const partsOf = (line: string): readonly [name: string, argument: string] => {
  const [, name = "", argument = ""] = /^(\S*)\s*([^]*)$/.exec(line.trim()) ?? [];
  return [name, argument.trim()];
};

const commandNamed = (name: string): Command | undefined => slashCommands.find((command) => command.name === name);

/** The bare words of the terminal that has the `seed` keymap. */
const bareWords: ReadonlyMap<string, string> = new Map([
  ["quit", "/quit"],
  ["clear", "/clear"],
  ["history", "/transcript"],
]);

const bareWordsWithName: ReadonlyMap<string, string> = new Map([
  ["save", "/checkpoint"],
  ["restore", "/restore"],
]);

const helpRows = (): readonly (readonly [string, string])[] =>
  slashCommands.map(({ name, usage, help }) => [`${name} ${usage}`.trim(), help]);
