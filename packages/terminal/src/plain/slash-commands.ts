import type { HostedThread } from "@colloquy/host";
import { explanationTable } from "@colloquy/machine/inspect";
import { lastTurnOf, textOf, toArray } from "@colloquy/machine";
import { named } from "../text/printable.ts";
import type { Printer } from "../text/printer.ts";
import { showTotal } from "./thread-summary.ts";

/** What a command needs of the conversation that it is typed in. */
export interface CommandTarget {
  readonly printer: Printer;
  readonly thread: HostedThread;
  readonly turnTo: (threadId: string) => Promise<void>;
  readonly turnToNew: () => Promise<void>;
  readonly end: () => void;
}

/** Performs a line such as `/undo` or `/thread holidays`. Rejects with what is wrong with an invalid one. */
export const performCommand = async (conversation: CommandTarget, line: string): Promise<void> => {
  const [name = "", ...rest] = line.split(/\s+/);
  const command = slashCommands[name];
  if (command === undefined) throw new Error(`there is no command ${name}; /help lists them`);
  await command.perform(conversation, rest.join(" "));
};

interface SlashCommand {
  readonly does: string;
  readonly perform: (conversation: CommandTarget, argument: string) => void | Promise<void>;
}

/** By name. */
export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  "/help": {
    does: "lists the commands",
    perform: ({ printer }) => {
      for (const [name, { does }] of Object.entries(slashCommands)) printer.line(`${name.padEnd(9)} ${does}`);
      printer.line("Ctrl+C    cancels an answer; at the prompt it ends the conversation");
    },
  },
  "/usage": {
    does: "what the thread took so far",
    perform: ({ printer, thread }) => showTotal(printer, thread),
  },
  "/context": {
    does: "what the next question would show the model of the thread, and why",
    perform: async ({ printer, thread }) => {
      const explanation = await thread.explain();
      printer.line(explanation === null ? "nothing was said yet" : explanationTable(explanation), "dim");
    },
  },
  "/new": {
    does: "goes on with a new thread",
    perform: (conversation) => conversation.turnToNew(),
  },
  "/thread": {
    does: "goes on with the thread of that id: /thread ID",
    perform: (conversation, id) => {
      if (id === "") throw new Error(`/thread needs an id; the present one is ${named(conversation.thread.id)}`);
      return conversation.turnTo(id);
    },
  },
  "/undo": {
    does: "takes the last turn back; again, the one before it",
    perform: async ({ printer, thread }) => {
      const state = await thread.state();
      const turn = state === null ? undefined : lastTurnOf(state);
      if (turn === undefined) throw new Error("there is nothing to take back");
      await thread.moveHead(turn.parent);
      const question = toArray(turn.messages).find(({ role }) => role === "user");
      printer.line(`took back turn ${turn.number}${question === undefined ? "" : `: ${textOf(question)}`}`, "dim");
    },
  },
  "/clear": {
    does: "begins the thread anew; what was said is kept, and not sent any more",
    perform: async ({ printer, thread }) => {
      if ((await thread.state()) !== null) await thread.moveHead(0);
      printer.line("the thread begins anew", "dim");
    },
  },
  "/quit": {
    does: "ends the conversation",
    perform: (conversation) => conversation.end(),
  },
};
