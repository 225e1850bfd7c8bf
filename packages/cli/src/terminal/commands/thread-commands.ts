import { writeFile } from "node:fs/promises";
import { toArray } from "@colloquy/machine";
import { counted } from "../text/figures.ts";
import { named } from "../text/printable.ts";
import { command, type Command, type CommandTarget, isConfirmed, numberIn, textIn } from "./command.ts";

export const threadCommands: readonly Command[] = [
  command("/new", "starts a new thread", async ({ turnTo, newThreadId }) => turnTo(await newThreadId())),
  command(
    "/thread ID",
    "continues the thread of that id, or starts it",
    ({ turnTo, thread }, id) => {
      if (id === "") throw new Error(`/thread needs an id; the present one is ${named(thread.id)}`);
      return turnTo(id);
    },
    (target) => threadIds(target),
  ),
  command(
    "/resume ID",
    "continues an existing thread",
    async ({ host, turnTo }, argument) => {
      const id = textIn(argument, "/resume ID; /threads lists them");
      if ((await host.thread(id).state()) === null)
        throw new Error(`there is no thread ${named(id)}; /threads lists them`);
      return turnTo(id);
    },
    (target) => threadIds(target),
  ),
  command("/rename NAME", "gives the thread a title", async ({ thread, say }, argument, call) => {
    const title = textIn(argument, call);
    const state = await thread.state();
    if (state === null) await thread.start({ metadata: { title } });
    else await thread.setMetadata({ ...state.context.metadata, title });
    say(`the thread is called ${title}`);
  }),
  command(
    "/fork [TURN]",
    "copies the thread, up to a turn, and continues the copy",
    async ({ thread, say, turnTo }, argument, call) => {
      const fork = await thread.fork(argument === "" ? {} : { turn: numberIn(argument, call) });
      say(`a copy of thread ${named(thread.id)}${argument === "" ? "" : ` up to turn ${argument}`}`);
      await turnTo(fork.thread.id);
    },
  ),
  command(
    "/delete",
    "deletes the thread with all that was said in it",
    async ({ thread, say, turnTo, newThreadId }, argument) => {
      const question = `this deletes thread ${named(thread.id)} with all that was said in it; /delete yes does it`;
      if (!isConfirmed(argument, say, question)) return;
      const wasThere = await thread.delete();
      say(wasThere ? `thread ${named(thread.id)} is deleted` : "there was nothing to delete");
      await turnTo(await newThreadId());
    },
  ),
  command(
    "/export [FILE]",
    "writes the thread's journal to a new file, an entry a line",
    async ({ thread, say }, argument) => {
      const file = argument === "" ? `${thread.id.replaceAll(/[^\w.-]/g, "-")}.jsonl` : argument;
      const state = await thread.state();
      if (state === null) throw new Error("nothing was said yet");
      const entries = await thread.exportJournal();
      try {
        await writeFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), {
          flag: "wx",
          mode: 0o600,
        });
      } catch (thrown) {
        if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
        throw new Error(`${named(file)} is there already; name another file: /export FILE`, { cause: thrown });
      }
      const turns = toArray(state.context.conversation.turns);
      const messages = turns.reduce((sum, turn) => sum + toArray(turn.messages).length, 0);
      say(`exported ${counted(turns.length, "turn")} (${counted(messages, "message")}) to ${named(file)}`);
    },
  ),
];

const threadIds = async ({ host }: CommandTarget): Promise<readonly string[]> =>
  (await host.threads({ limit: 100 })).threads.map(({ threadId }) => threadId);
