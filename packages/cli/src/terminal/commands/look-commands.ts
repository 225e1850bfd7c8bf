import { explanationTable } from "@colloquy/machine/inspect";
import type { HostedThread } from "@colloquy/host";
import { type State, toArray } from "@colloquy/machine";
import { atView } from "../views/at-view.ts";
import { diffView } from "../views/diff-view.ts";
import { explainView } from "../views/explain-view.ts";
import { searchView } from "../views/search-view.ts";
import { threadsView } from "../views/threads-view.ts";
import { transcriptView } from "../views/transcript-view.ts";
import { treeView } from "../views/tree-view.ts";
import { totalOf } from "../text/figures.ts";
import { named } from "../text/printable.ts";
import { numberIn, textIn } from "./arguments.ts";
import type { Command } from "./command.ts";

/** Commands that only read. */
export const lookCommands: readonly Command[] = [
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
