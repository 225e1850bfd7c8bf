import { writeFile } from "node:fs/promises";
import { named } from "../text/printable.ts";
import { isConfirmed, numberIn, textIn } from "./arguments.ts";
import type { Command, CommandTarget } from "./command.ts";

/** Commands about whole threads. */
export const threadCommands: readonly Command[] = [
  {
    name: "/new",
    usage: "",
    help: "starts a new thread",
    perform: async ({ turnTo, newThreadId }) => turnTo(await newThreadId()),
  },
  {
    name: "/thread",
    usage: "ID",
    help: "continues the thread of that id, or starts it",
    complete: (target) => threadIds(target),
    perform: ({ turnTo, thread }, id) => {
      if (id === "") throw new Error(`/thread needs an id; the present one is ${named(thread.id)}`);
      return turnTo(id);
    },
  },
  {
    name: "/resume",
    usage: "ID",
    help: "continues an existing thread",
    complete: (target) => threadIds(target),
    perform: async ({ host, turnTo }, argument) => {
      const id = textIn(argument, "/resume ID; /threads lists them");
      if ((await host.thread(id).state()) === null)
        throw new Error(`there is no thread ${named(id)}; /threads lists them`);
      return turnTo(id);
    },
  },
  {
    name: "/rename",
    usage: "NAME",
    help: "gives the thread a title",
    perform: async ({ thread, say }, argument) => {
      const title = textIn(argument, "/rename NAME");
      const state = await thread.state();
      if (state === null) await thread.start({ metadata: { title } });
      else await thread.setMetadata({ ...state.context.metadata, title });
      say(`the thread is called ${title}`);
    },
  },
  {
    name: "/fork",
    usage: "[TURN]",
    help: "copies the thread, up to a turn, and continues the copy",
    perform: async ({ thread, say, turnTo }, argument) => {
      const fork = await thread.fork(argument === "" ? {} : { turn: numberIn(argument, "/fork [TURN]") });
      say(`a copy of thread ${named(thread.id)}${argument === "" ? "" : ` up to turn ${argument}`}`);
      await turnTo(fork.thread.id);
    },
  },
  {
    name: "/delete",
    usage: "",
    help: "deletes the thread with all that was said in it",
    perform: async ({ thread, say, turnTo, newThreadId }, argument) => {
      const question = `this deletes thread ${named(thread.id)} with all that was said in it; /delete yes does it`;
      if (!isConfirmed(argument, say, question)) return;
      const wasThere = await thread.delete();
      say(wasThere ? `thread ${named(thread.id)} is deleted` : "there was nothing to delete");
      await turnTo(await newThreadId());
    },
  },
  {
    name: "/export",
    usage: "[FILE]",
    help: "writes the thread's journal to a new file, an entry a line",
    perform: async ({ thread, say }, argument) => {
      const file = argument === "" ? `${thread.id.replaceAll(/[^\w.-]/g, "-")}.jsonl` : argument;
      const entries = (await thread.state()) === null ? [] : await thread.exportJournal();
      if (entries.length === 0) throw new Error("nothing was said yet");
      try {
        await writeFile(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), {
          flag: "wx",
          mode: 0o600,
        });
      } catch (thrown) {
        if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
        throw new Error(`${named(file)} is there already; name another file: /export FILE`, { cause: thrown });
      }
      say(`wrote ${entries.length} entries to ${named(file)}`);
    },
  },
];

const threadIds = async ({ host }: CommandTarget): Promise<readonly string[]> =>
  (await host.threads({ limit: 100 })).threads.map(({ threadId }) => threadId);
