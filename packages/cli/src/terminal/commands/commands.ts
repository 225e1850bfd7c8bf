import { named } from "../text/printable.ts";
import type { CompletableCommand } from "../input/completion.ts";
import type { Command, CommandTarget, Choice } from "./command.ts";
import { threadCommands } from "./thread-commands.ts";
import { turnCommands } from "./turn-commands.ts";
import { textOf, type State, toArray } from "@colloquy/machine";
import { line, type Line, span } from "../text/line.ts";
import { lineWidth, wrapped } from "../text/wrap.ts";
import { textView } from "../views/scrolling-view.ts";
import type { View } from "../views/view.ts";
import { explanationTable } from "@colloquy/machine/inspect";
import type { HostedThread } from "@colloquy/host";
import { atView } from "../views/at-view.ts";
import { diffView } from "../views/diff-view.ts";
import { explainView } from "../views/explain-view.ts";
import { searchView } from "../views/search-view.ts";
import { threadsView } from "../views/threads-view.ts";
import { transcriptView } from "../views/transcript-view.ts";
import { treeView } from "../views/tree-view.ts";
import { totalOf } from "../text/figures.ts";
import { numberIn, textIn } from "./arguments.ts";

/** Commands for settings and for the end of the conversation. */
const settingCommands: readonly Command[] = [
  {
    name: "/system",
    usage: "[TEXT]",
    help: "gives the thread another system prompt, or shows the present one",
    perform: async ({ thread, say }, argument) => {
      if (argument !== "") {
        await thread.changeSystem(argument);
        return say("the next answer has the new system prompt; /reset brings the first one back");
      }
      const system = (await thread.state())?.context.conversation.system ?? null;
      say(system === null ? "there is no system prompt" : textOf(system));
    },
  },
  {
    name: "/model",
    usage: "[NAME]",
    help: "asks another model from here on, or says which is asked",
    complete: async ({ models }) => models?.names ?? [],
    perform: (target, argument) => choose(target, target.models, "model", argument),
  },
  {
    name: "/theme",
    usage: "[NAME]",
    help: "shows things in other colours, or says in which",
    complete: async ({ themes }) => themes?.names ?? [],
    perform: (target, argument) => choose(target, target.themes, "theme", argument),
  },
  {
    name: "/keys",
    usage: "",
    help: "lists what keys do",
    perform: ({ open, keys }) => open(rowsView("Keys", keys())),
  },
  {
    name: "/quit",
    usage: "",
    help: "ends the conversation",
    perform: ({ end }) => end(),
  },
];

const choose = ({ say }: CommandTarget, choice: Choice | null, what: string, name: string): void => {
  if (choice === null) throw new Error(`there is no ${what} to choose here`);
  const offered = choice.names.every((each) => each === choice.present())
    ? ""
    : `; there are ${choice.names.map(named).join(", ")}`;
  if (name !== "") choice.choose(name);
  say(`the ${what} is ${named(choice.present())}${name === "" ? offered : ""}`);
};

/** Commands that only read. */
const lookCommands: readonly Command[] = [
  {
    name: "/usage",
    usage: "",
    help: "what the thread took so far",
    perform: async ({ thread, say }) => {
      const state = await thread.state();
      if (state === null) return say("nothing was said yet");
      const { conversation, usage } = state.context;
      say(`thread ${named(thread.id)}: ${totalOf(toArray(conversation.turns), usage.total)}`);
    },
  },
  {
    name: "/context",
    usage: "",
    help: "what the next question would show the model of the thread, and why",
    perform: async ({ thread, say }) => {
      const explanation = await thread.explain();
      say(explanation === null ? "nothing was said yet" : explanationTable(explanation));
    },
  },
  {
    name: "/explain",
    usage: "",
    help: "the same, message by message",
    perform: async ({ thread, open }) => {
      const explanation = await thread.explain();
      if (explanation === null) throw new Error("nothing was said yet");
      open(explainView(explanation));
    },
  },
  {
    name: "/tree",
    usage: "",
    help: "shows the turns and their branches",
    perform: async ({ thread, open }) => open(treeView(await stateOf(thread))),
  },
  {
    name: "/transcript",
    usage: "",
    help: "shows all that was said, with thinking, tools and results",
    perform: async ({ thread, open }) => open(transcriptView(await stateOf(thread))),
  },
  {
    name: "/at",
    usage: "[ENTRY]",
    help: "shows the thread as it was behind an entry of its journal, the newest or that of a number",
    perform: async ({ thread, open }, argument) => {
      const { context } = await stateOf(thread);
      open(await atView(thread, numberIn(argument, "/at [ENTRY]", context.seq)));
    },
  },
  {
    name: "/diff",
    usage: "A B",
    help: "shows what is otherwise behind one entry than behind another",
    perform: async ({ thread, open }, argument) => {
      const [from = "", to = "", ...more] = argument.split(/\s+/);
      if (to === "" || more.length > 0)
        throw new Error("this takes the numbers of two entries, which /at shows: /diff A B");
      open(await diffView(thread, numberIn(from, "/diff A B"), numberIn(to, "/diff A B")));
    },
  },
  {
    name: "/threads",
    usage: "",
    help: "lists the threads",
    perform: async ({ host, open }) => open(await threadsView(host)),
  },
  {
    name: "/search",
    usage: "WORDS",
    help: "finds where all of the words were said, in all threads",
    perform: async ({ host, open }, argument) => open(await searchView(host, textIn(argument, "/search WORDS"))),
  },
];

/** @throws Error for a thread that does not exist yet */
const stateOf = async (thread: HostedThread): Promise<State> => {
  const state = await thread.state();
  if (state === null) throw new Error("nothing was said yet");
  return state;
};

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

/** Returns a view of names and descriptions, side by side, or one below the other if there is no room. */
const rowsView = (title: string, rows: readonly (readonly [name: string, says: string])[]): View => {
  const width = Math.max(...rows.map(([name]) => lineWidth(line(name)))) + 2;
  return textView(title, (columns) => {
    const beside = columns >= width + leastBeside;
    const indent = beside ? width : 2;
    return rows.flatMap(([name, says]): readonly Line[] => {
      const [first = [], ...rest] = wrapped(line(says), columns - indent);
      const below = (beside ? rest : [first, ...rest]).map((row) => [span(" ".repeat(indent)), ...row]);
      const names = beside ? [[span(name.padEnd(width), "prompt"), ...first]] : wrapped(line(name, "prompt"), columns);
      return [...names, ...below];
    });
  });
};

/** Narrower descriptions are easier to read below their names. */
const leastBeside = 30;
