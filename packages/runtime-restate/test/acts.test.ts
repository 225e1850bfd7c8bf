// Acts of people during a turn, in a fixed order: on Restate they show and journal what they do in memory.
import { createHost, declarationsOf, type Host, memoryStore, type Tool, tool } from "@colloquy/host";
import { conversationMachine, type ReplyDraft, textOf } from "@colloquy/machine";
import { randomIds, systemClock as clock } from "@colloquy/runtime-node";
import type { ServeOptions } from "@colloquy/runtime-restate";
import { lawSameJournal } from "@colloquy/runtime-test/laws";
import { expect, it } from "vitest";
import { withRestate } from "./engine.ts";

interface Act {
  readonly tools?: readonly Tool[];
  /** The replies of the first steps; later ones repeat the newest question. */
  readonly replies?: readonly ReplyDraft[];
  /** Acts on the thread "act". */
  readonly play: (host: Host) => Promise<unknown>;
  /** The value that `play` returns. */
  readonly shows: unknown;
}

const anything = { jsonSchema: { type: "object" } } as const;
const calling = (name: string): ReplyDraft => ({ toolCalls: [{ id: null, name, arguments: "{}" }] });

const modelOf =
  ({ replies = [] }: Pick<Act, "replies">): ServeOptions["llm"] =>
  async ({ messages, step }) => {
    const asked = messages.findLast(({ role }) => role === "user");
    const repeated = { content: asked === undefined ? "" : textOf(asked) };
    return { type: "completed", reply: replies[step - 1] ?? repeated, finishReason: "stop" };
  };

const hostOf = (act: Pick<Act, "tools" | "replies">): Host => {
  const { tools = [] } = act;
  const machine = conversationMachine({ tools: declarationsOf(tools) });
  return createHost({ machine, tools, llm: modelOf(act), store: memoryStore({ clock }), clock, ids: randomIds });
};

const steering = (): Act => {
  const began = Promise.withResolvers<void>();
  const steered = Promise.withResolvers<string>();
  const run = (): Promise<string> => {
    began.resolve();
    return steered.promise;
  };
  return {
    tools: [tool({ name: "look", description: "Looks around.", input: anything, recovery: "rerun", run })],
    replies: [calling("look")],
    shows: ["under the table, too", "under the table, too"],
    play: async (host) => {
      const thread = host.thread("act");
      const first = thread.ask("look around", { askId: "first" });
      await began.promise;
      const second = thread.steer("under the table, too", { askId: "second" });
      await expect.poll(() => thread.asked("second")).not.toBeNull();
      steered.resolve("looked");
      return [(await first).text, (await second).text];
    },
  };
};

const acts: Readonly<Record<string, () => Act>> = {
  steering,
  "an output that is refused once": () => ({
    replies: [{ content: '{"city":5}' }, { content: '{"city":"Oslo"}' }],
    shows: '{"city":"Oslo"}',
    play: async (host) => {
      const schema = { jsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } };
      const output = { schema, name: "place", mode: "prompted" } as const;
      return (await host.ask("where?", { threadId: "act", askId: "where", output })).text;
    },
  }),
  "a tool of the caller": () => ({
    replies: [calling("locate")],
    shows: "where am I?",
    play: async (host) => {
      const tools = [{ name: "locate", description: "Where the caller is.", input: anything }];
      const asked = host.ask("where am I?", { threadId: "act", askId: "mine", tools });
      for await (const part of asked)
        if (part.type === "result.requested") await host.thread("act").answerTool(part.callId, "at home");
      return (await asked).text;
    },
  }),
  "another thread in the place of a known one": () => ({
    shows: ["my name is Ada", 2],
    play: async (host) => {
      const first = await host.ask("my name is Ada", { threadId: "act", askId: "first" });
      await host.thread("act").delete();
      const other = hostOf({});
      await other.ask("my name is Bob", { threadId: "act", askId: "other" });
      await host.importJournal(await other.thread("act").exportJournal());
      await other.close();
      return [first.text, (await host.ask("who am I?", { threadId: "act", askId: "second" })).turn];
    },
  }),
};

withRestate("acts during a turn", (engine) => {
  it.each(Object.entries(acts))("of %s are the same on Restate and in memory", async (_, make) => {
    const played = async (act: Act, host: Host) => {
      const shown = await act.play(host);
      return { shown, journal: await host.thread("act").exportJournal() };
    };
    const [here, there] = [make(), make()];
    const plain = hostOf(here);
    const { tools = [] } = there;
    const machine = conversationMachine({ tools: declarationsOf(tools) });
    const { host } = await engine.start({ machine, tools, llm: modelOf(there) });
    const [memory, restate] = [await played(here, plain), await played(there, host)];
    expect([memory.shown, restate.shown]).toEqual([here.shows, there.shows]);
    lawSameJournal({ memory: memory.journal, restate: restate.journal });
    await plain.close();
  });
});
