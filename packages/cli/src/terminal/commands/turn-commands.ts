import { type HostedThread } from "@colloquy/host";
import { lastTurnOf, textOf, toArray, type Turn, turnNumbered, undoTarget } from "@colloquy/machine";
import { shortened } from "../text/printable.ts";
import { counted } from "../text/figures.ts";
import { isConfirmed, numberIn, textIn } from "./arguments.ts";
import type { Command } from "./command.ts";

/** Commands for turns: the head, names, and redaction. */
export const turnCommands: readonly Command[] = [
  {
    name: "/undo",
    usage: "[N]",
    help: "takes back the last turn, or the last N",
    perform: async ({ thread, say }, argument) => {
      const number = numberIn(argument, "/undo [N]", 1);
      const state = await thread.state();
      const most = state === null ? 0 : undoTarget(state, Infinity).turns.length;
      if (most === 0 || number === 0) throw new Error("there is nothing to take back");
      if (number > most) throw new Error(`${counted(most, "turn")} can be taken back: /undo ${most}`);
      const turns = await thread.undo(number);
      for (const turn of turns) say(`took back ${inWords(turn)}`);
    },
  },
  {
    name: "/redo",
    usage: "[N]",
    help: "takes up again what was taken back",
    perform: async ({ thread, say }, argument) => {
      const turns = await moved(thread, () => thread.redo(numberIn(argument, "/redo [N]", 1)));
      if (turns.length === 0) throw new Error("there is nothing to take up again");
      for (const turn of turns.toReversed()) say(`took up again ${inWords(turn)}`);
    },
  },
  {
    name: "/branch",
    usage: "TURN",
    help: "continues after a turn: what is asked next is another branch; 0 is the beginning",
    perform: async ({ thread, say }, argument) => {
      const turn = numberIn(argument, "/branch TURN");
      await thread.branch(turn);
      say(turn === 0 ? "the thread goes on at its beginning" : `the thread goes on behind turn ${turn}`);
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
      say(`the thread goes on at ${name}`);
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
    help: "begins the thread again; what was said is kept, and not sent any more",
    perform: async ({ thread, say }) => {
      await moved(thread, () => thread.clear());
      say("the thread begins anew; /redo takes up again what was said");
    },
  },
  {
    name: "/reset",
    usage: "",
    help: "as /clear, with the system prompt that the thread began with",
    perform: async ({ thread, say }) => {
      await moved(thread, () => thread.reset());
      say("the thread begins anew, with its first system prompt; /redo takes up again what was said");
    },
  },
];

/** Moves the head; an empty list for a thread that does not exist yet. */
const moved = async <Moved>(thread: HostedThread, move: () => Promise<Moved>): Promise<Moved | readonly never[]> =>
  (await thread.state()) === null ? [] : move();

const inWords = (turn: Turn): string => {
  const question = toArray(turn.messages).find(({ role }) => role === "user");
  return `turn ${turn.number}${question === undefined ? "" : `: ${shortened(textOf(question))}`}`;
};
