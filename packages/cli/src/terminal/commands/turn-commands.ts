import { type HostedThread } from "@colloquy/host";
import { lastTurnOf, textOf, toArray, type Turn, turnNumbered, undoTarget } from "@colloquy/machine";
import { shortened } from "../text/printable.ts";
import { counted } from "../text/figures.ts";
import { isConfirmed, numberIn, textIn } from "./arguments.ts";
import type { Command } from "./command.ts";

/** The commands that move the head, name a place, or redact or copy a turn. */
export const turnCommands: readonly Command[] = [
  {
    name: "/undo",
    usage: "[N]",
    help: "takes back the last turn, or the last N",
    perform: async ({ thread, say }, argument) => {
      const number = numberIn(argument, "/undo [N]", 1);
      const state = await thread.state();
      const max = state === null ? 0 : undoTarget(state, Infinity).turns.length;
      if (max === 0 || number === 0) throw new Error("there is nothing to take back");
      if (number > max) throw new Error(`${counted(max, "turn")} can be taken back: /undo ${max}`);
      const turns = await thread.undo(number);
      for (const turn of turns) say(`took back ${described(turn)}`);
    },
  },
  {
    name: "/redo",
    usage: "[N]",
    help: "brings back the turns that were taken back",
    perform: async ({ thread, say }, argument) => {
      const turns = await moved(thread, () => thread.redo(numberIn(argument, "/redo [N]", 1)));
      if (turns.length === 0) throw new Error("there is nothing to bring back");
      for (const turn of turns.toReversed()) say(`brought back ${described(turn)}`);
    },
  },
  {
    name: "/branch",
    usage: "TURN",
    help: "continues after a turn, on another branch; 0 is the beginning",
    perform: async ({ thread, say }, argument) => {
      const turn = numberIn(argument, "/branch TURN");
      await thread.branch(turn);
      say(turn === 0 ? "the thread continues at its beginning" : `the thread continues after turn ${turn}`);
    },
  },
  {
    name: "/checkpoint",
    usage: "NAME",
    help: "gives the present place a name",
    perform: async ({ thread, say }, argument) => {
      const name = textIn(argument, "/checkpoint NAME");
      await thread.checkpoint(name);
      say(`this place is called ${name}; /restore ${name} comes back to it`);
    },
  },
  {
    name: "/restore",
    usage: "NAME",
    help: "continues at the checkpoint of that name",
    complete: async ({ thread }) => (await thread.checkpoints()).map(({ name }) => name),
    perform: async ({ thread, say }, argument) => {
      const name = textIn(argument, "/restore NAME");
      await thread.restore(name);
      say(`the thread continues at ${name}`);
    },
  },
  {
    name: "/redact",
    usage: "TURN",
    help: "takes the words of a turn out of the journal, for good",
    perform: async ({ thread, say }, argument) => {
      const [turn = "", yes = ""] = argument.split(/\s+/);
      const number = numberIn(turn, "/redact TURN");
      const last = (await thread.state())?.context.conversation.turns.length ?? 0;
      if (number > last)
        throw new Error(last === 0 ? "nothing was said yet" : `there is no turn ${number}; the last is ${last}`);
      const question = `this takes the words of turn ${number} out of the journal, and no undo brings them back; /redact ${number} yes does it`;
      if (!isConfirmed(yes, say, question)) return;
      const seqs = await thread.redact({ turn: number });
      say(
        `turn ${number} is redacted: ${counted(seqs.length, "entry").replace(/entrys$/, "entries")} lost their words`,
      );
    },
  },
  {
    name: "/copy",
    usage: "[TURN]",
    help: "copies the last answer, or that of a turn, as the model wrote it",
    perform: async ({ thread, copy, say }, argument) => {
      const state = await thread.state();
      const number = argument === "" ? null : numberIn(argument, "/copy [TURN]");
      const turn = state === null ? undefined : number === null ? lastTurnOf(state) : turnNumbered(state, number);
      const answer = turn === undefined ? undefined : toArray(turn.messages).find(({ id }) => id === turn.answer);
      if (answer === undefined)
        throw new Error(number === null ? "there is no answer yet" : `turn ${number} has no answer`);
      copy(textOf(answer));
      say(`copied the answer of turn ${turn?.number}`);
    },
  },
  {
    name: "/clear",
    usage: "",
    help: "begins the thread again; earlier turns are kept, but no longer sent",
    perform: async ({ thread, say }) => {
      await moved(thread, () => thread.clear());
      say("the thread begins again; /redo brings back its turns");
    },
  },
  {
    name: "/reset",
    usage: "",
    help: "as /clear, with the system prompt that the thread began with",
    perform: async ({ thread, say }) => {
      await moved(thread, () => thread.reset());
      say("the thread begins again, with its first system prompt; /redo brings back its turns");
    },
  },
];

/** Moves the head, if the thread exists; returns an empty list if not. */
const moved = async <Moved>(thread: HostedThread, move: () => Promise<Moved>): Promise<Moved | readonly never[]> =>
  (await thread.state()) === null ? [] : move();

/** Returns the number of a turn, and the beginning of its question. */
const described = (turn: Turn): string => {
  const question = toArray(turn.messages).find(({ role }) => role === "user");
  return `turn ${turn.number}${question === undefined ? "" : `: ${shortened(textOf(question))}`}`;
};
