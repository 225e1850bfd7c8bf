import type { HostedThread } from "@colloquy/host";
import { lastTurnOf, textOf, toArray, type Turn, turnNumbered, turnsOf } from "@colloquy/machine";
import { undoTarget } from "@colloquy/machine/hosting";
import { shortened } from "../text/printable.ts";
import { counted } from "../text/figures.ts";
import { command, type Command, type CommandTarget, isConfirmed, numberIn, textIn } from "./command.ts";

/** The commands that move the head, name a place, or redact or copy a turn. */
export const turnCommands: readonly Command[] = [
  command("/undo [N]", "takes back the last turn, or the last N", async ({ thread, say }, argument, call) => {
    const number = numberIn(argument, call, 1);
    const state = await thread.state();
    const max = state === null ? 0 : undoTarget(state, Infinity).turns.length;
    if (max === 0 || number === 0) throw new Error("there is nothing to take back");
    if (number > max) throw new Error(`${counted(max, "turn")} can be taken back: /undo ${max}`);
    const turns = await thread.undo(number);
    for (const turn of turns) say(`took back ${described(turn)}`);
  }),
  command("/redo [N]", "brings back the turns that were taken back", async ({ thread, say }, argument, call) => {
    const turns = await moved(thread, () => thread.redo(numberIn(argument, call, 1)));
    if (turns.length === 0) throw new Error("there is nothing to bring back");
    for (const turn of turns.toReversed()) say(`brought back ${described(turn)}`);
  }),
  command(
    "/branch TURN",
    "continues after a turn, on another branch; 0 is the beginning",
    async ({ thread, say }, argument, call) => {
      const turn = numberIn(argument, call);
      await thread.branch(turn);
      say(turn === 0 ? "the thread continues at its beginning" : `the thread continues after turn ${turn}`);
    },
  ),
  command("/checkpoint NAME", "gives the present place a name", async ({ thread, say }, argument, call) => {
    const name = textIn(argument, call);
    await thread.checkpoint(name);
    say(`this place is called ${name}; /restore ${name} comes back to it`);
  }),
  command(
    "/restore NAME",
    "continues at the checkpoint of that name",
    async ({ thread, say }, argument, call) => {
      const name = textIn(argument, call);
      await thread.restore(name);
      say(`the thread continues at ${name}`);
    },
    async ({ thread }) => (await thread.checkpoints()).map(({ name }) => name),
  ),
  command(
    "/redact TURN",
    "takes the words of a turn out of the journal, for good",
    async ({ thread, say }, argument, call) => {
      const [turn = "", yes = ""] = argument.split(/\s+/);
      const number = numberIn(turn, call);
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
  ),
  command(
    "/copy [TURN]",
    "copies the last answer, or that of a turn, as the model wrote it",
    async ({ thread, copy, say }, argument, call) => {
      const state = await thread.state();
      const number = argument === "" ? null : numberIn(argument, call);
      const turn = state === null ? undefined : number === null ? lastTurnOf(state) : turnNumbered(state, number);
      const answer = turn === undefined ? undefined : toArray(turn.messages).find(({ id }) => id === turn.answer);
      if (answer === undefined)
        throw new Error(number === null ? "there is no answer yet" : `turn ${number} has no answer`);
      copy(textOf(answer));
      say(`copied the answer of turn ${turn?.number}`);
    },
  ),
  command("/clear", "begins the thread again; earlier turns are kept, but no longer sent", async ({ thread, say }) => {
    await moved(thread, () => thread.clear());
    say("the thread begins again; /redo brings back its turns");
  }),
  command("/compact", "replaces the turns by the model's summary", ({ thread, say }) => compact(thread, say)),
  command("/reset", "as /clear, with the system prompt that the thread began with", async ({ thread, say }) => {
    await moved(thread, () => thread.reset());
    say("the thread begins again, with its first system prompt; /redo brings back its turns");
  }),
];

/** Asks for the summary on a fork, so that the thread changes only once there is one. */
const compact = async (thread: HostedThread, say: CommandTarget["say"]): Promise<void> => {
  const state = await thread.state();
  const turns = state === null ? [] : turnsOf(state);
  if (state?.context.open != null) throw new Error("an answer is under way: stop it first, or wait for it");
  if (turns.length === 0) throw new Error("there is nothing to sum up yet");
  const { thread: fork } = await thread.fork();
  try {
    // In one step, so that no tool runs.
    const { text } = await fork.ask(summaryWanted, { limits: { steps: 1 } });
    if (text.trim() === "") throw new Error("the model wrote no summary; the thread is as it was");
    const now = await thread.look(({ context: { open, conversation } }) => open?.number ?? conversation.head);
    if (now !== state?.context.conversation.head)
      throw new Error("the thread changed meanwhile, and keeps its turns; give /compact again");
    await thread.clear();
    await thread.addTurn([
      { role: "user", content: summaryWanted },
      { role: "assistant", content: text },
    ]);
    say(`the next question comes after this summary of ${counted(turns.length, "turn")}:\n${text}`);
  } finally {
    await fork.delete();
  }
};

const summaryWanted =
  "Sum up our conversation: from here on you see only this summary. Keep facts, decisions, open questions, names and numbers, and write nothing else.";

/** Moves the head, if the thread exists; returns an empty list if not. */
const moved = async <Moved>(thread: HostedThread, move: () => Promise<Moved>): Promise<Moved | readonly never[]> =>
  (await thread.state()) === null ? [] : move();

const described = (turn: Turn): string => {
  const question = toArray(turn.messages).find(({ role }) => role === "user");
  return `turn ${turn.number}${question === undefined ? "" : `: ${shortened(textOf(question))}`}`;
};
