import { didYouMean, named } from "../text/printable.ts";
import type { CompletableCommand } from "../input/completion.ts";
import { type Choice, command, type Command, type CommandTarget, numberIn, textIn } from "./command.ts";
import { threadCommands } from "./thread-commands.ts";
import { turnCommands } from "./turn-commands.ts";
import { textOf, type State, toArray } from "@colloquy/machine";
import { line, type Line, span } from "../text/line.ts";
import { lineWidth, wrapped } from "../text/wrap.ts";
import { textView } from "../views/scrolling-view.ts";
import type { View } from "../views/view.ts";
import { type Explanation, explanationTable } from "@colloquy/machine/inspect";
import type { HostedThread } from "@colloquy/host";
import { atView, diffView } from "../views/entry-views.ts";
import { explainView, summaryOf } from "../views/explain-view.ts";
import { searchView, threadsView } from "../views/thread-list-views.ts";
import { transcriptView } from "../views/transcript-view.ts";
import { treeView } from "../views/tree-view.ts";
import { totalOf } from "../text/figures.ts";

/** Commands for settings and for the end of the conversation. */
const settingCommands: readonly Command[] = [
  command(
    "/system [TEXT]",
    "gives the thread another system prompt, or shows the present one",
    async ({ thread, say }, argument) => {
      if (argument !== "") {
        await thread.changeSystem(argument);
        return say("the next answer has the new system prompt; /reset brings the first one back");
      }
      const system = (await thread.state())?.context.conversation.system ?? null;
      say(system === null ? "there is no system prompt" : textOf(system));
    },
  ),
  command(
    "/model [NAME]",
    "asks another model from here on, or says which is asked",
    (target, argument) => choose(target, target.models, "model", argument),
    async ({ models }) => (await models?.names()) ?? [],
  ),
  command(
    "/theme [NAME]",
    "shows things in other colours, or says in which",
    (target, argument) => choose(target, target.themes, "theme", argument),
    async ({ themes }) => (await themes?.names()) ?? [],
  ),
  command("/keys", "lists what keys do", ({ open, keys }) => open(rowsView("Keys", keys()))),
  command("/quit", "ends the conversation", ({ end }) => end()),
];

const choose = async ({ say }: CommandTarget, choice: Choice | null, what: string, name: string): Promise<void> => {
  if (choice === null) throw new Error(`there is only one ${what} here`);
  if (name !== "") {
    choice.choose(name);
    return say(`the ${what} is ${named(choice.present())}`);
  }
  const names = await choice.names();
  const others = names.every((each) => each === choice.present()) ? "" : `; there are ${names.map(named).join(", ")}`;
  say(`the ${what} is ${named(choice.present())}${others}`);
};

/** Commands that only read. */
const lookCommands: readonly Command[] = [
  command("/usage", "the turns, tokens, cost and time of the thread so far", async ({ thread, say }) => {
    const state = await thread.state();
    if (state === null) return say("nothing was said yet");
    const { conversation, usage } = state.context;
    say(`thread ${named(thread.id)}: ${totalOf(toArray(conversation.turns), usage.total)}`);
  }),
  command("/context", "what the next question would show the model of the thread, and why", (target) =>
    explain(target, contextView),
  ),
  command("/explain", "the same, as a list whose messages Enter opens", (target) => explain(target, explainView)),
  command("/tree", "shows the turns and their branches", async ({ thread, open }) =>
    open(treeView(await stateOf(thread))),
  ),
  command("/transcript", "shows all that was said, with thinking, tools and results", async ({ thread, open }) =>
    open(transcriptView(await stateOf(thread))),
  ),
  command(
    "/at [ENTRY]",
    "shows the thread as it was after an entry of its journal, the newest or that of a number",
    async ({ thread, open }, argument, call) => {
      const { context } = await stateOf(thread);
      open(await atView(thread, numberIn(argument, call, context.seq)));
    },
  ),
  command("/diff A B", "shows how the thread differs between two entries", async ({ thread, open }, argument, call) => {
    const [from = "", to = "", ...more] = argument.split(/\s+/);
    if (to === "" || more.length > 0)
      throw new Error("this takes the numbers of two entries, which /at shows: /diff A B");
    open(await diffView(thread, numberIn(from, call), numberIn(to, call)));
  }),
  command("/threads", "lists the threads", async ({ host, open }) => open(await threadsView(host))),
  command(
    "/search WORDS",
    "finds where all of the words were said, in all threads",
    async ({ host, open }, argument, call) => open(await searchView(host, textIn(argument, call))),
  ),
];

/** Returns a view of the units as a table, or on a narrow screen as lists. Longer lines continue below, indented. */
const contextView = (explanation: Explanation): View =>
  textView("The next prompt", (columns) =>
    explanationTable(explanation)
      .split("\n")
      .flatMap((row) => {
        const text = columns < leastTable ? row.trim().replaceAll(/ {2,}/g, " · ") : row;
        const [first = [], ...rest] = wrapped(line(text), Math.max(columns - tableIndent, 1));
        return [first, ...rest.map((more) => [span(" ".repeat(tableIndent)), ...more])];
      }),
  );

const tableIndent = 6;
const leastTable = 72;

/** Says the size of the next prompt in a line, and shows the rest in a view. */
const explain = async (
  { thread, say, open }: CommandTarget,
  viewOf: (explanation: Explanation) => View,
): Promise<void> => {
  const explanation = await thread.explain();
  if (explanation === null) return say("nothing was said yet");
  say(summaryOf(explanation));
  open(viewOf(explanation));
};

/** @throws Error for a thread that does not exist yet */
const stateOf = async (thread: HostedThread): Promise<State> => {
  const state = await thread.state();
  if (state === null) throw new Error("nothing was said yet");
  return state;
};

/** All commands, in the order of the help. */
export const slashCommands: readonly Command[] = [
  command("/help", "lists the commands", ({ open }) =>
    open(
      rowsView(
        "Commands",
        slashCommands.map((each) => [callOf(each), each.help]),
        "Anything else that is typed is a question to the model. /explain, /undo, /branch and /fork show and change what it sees.",
      ),
    ),
  ),
  ...lookCommands,
  ...turnCommands,
  ...threadCommands,
  ...settingCommands,
];

/** Performs a line such as `/undo` or `/thread holidays`. Rejects with the problem of the line. */
export const performCommand = async (target: CommandTarget, line: string): Promise<void> => {
  const [, name = "", argument = ""] = /^(\S*)\s*([^]*)$/.exec(line.trim()) ?? [];
  const found = slashCommands.find((each) => each.name === name);
  if (found === undefined) {
    const meant = didYouMean(
      name,
      slashCommands.map((each) => each.name),
    );
    throw new Error(`there is no command ${named(name)}${meant}; /help lists them`);
  }
  await found.perform(target, argument.trim());
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
  slashCommands.map((each) => ({
    name: each.name,
    usage: callOf(each),
    does: each.help,
    complete: (prefix) => (offers.get(each.name) ?? []).filter((offer) => offer.startsWith(prefix)),
  }));

const callOf = ({ name, usage }: Command): string => `${name} ${usage}`.trim();

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

/** Returns a view of names and descriptions, side by side, or one below the other if there is no room. */
const rowsView = (title: string, rows: readonly (readonly [name: string, says: string])[], about = ""): View => {
  const width = Math.max(...rows.map(([name]) => lineWidth(line(name)))) + 2;
  return textView(title, (columns) => {
    const beside = columns >= width + leastBeside;
    const indent = beside ? width : 2;
    const head = about === "" ? [] : [...wrapped(line(about), columns), []];
    const body = rows.flatMap(([name, says]): readonly Line[] => {
      const [first = [], ...rest] = wrapped(line(says), columns - indent);
      const below = (beside ? rest : [first, ...rest]).map((row) => [span(" ".repeat(indent)), ...row]);
      const names = beside ? [[span(name.padEnd(width), "prompt"), ...first]] : wrapped(line(name, "prompt"), columns);
      return [...names, ...below];
    });
    return [...head, ...body];
  });
};

/** Narrower descriptions are easier to read below their names. */
const leastBeside = 30;
