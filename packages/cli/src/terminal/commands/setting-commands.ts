import { textOf } from "@colloquy/machine";
import { named } from "../text/printable.ts";
import { rowsView } from "../views/rows-view.ts";
import type { Choice, Command, CommandTarget } from "./command.ts";

/** Commands for settings and for the end of the conversation. */
export const settingCommands: readonly Command[] = [
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
