import { type AskHandle, type AskPart, createHost, declarationsOf, type Host, memoryStore, tool } from "@colloquy/host";
import { conversationMachine, type Entry, textOf } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock as clock } from "@colloquy/runtime-node";
import type { ServeOptions } from "@colloquy/runtime-restate";
import { lawSameJournal } from "@colloquy/runtime-test/laws";
import { expect, it } from "vitest";
import { withRestate } from "./engine.ts";

const input = { jsonSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } } as const;

const tools = [
  tool({ name: "lookup", description: "Looks", input, recovery: "rerun", run: async () => "found" }),
  tool({ name: "charge", description: "Charges", input, recovery: "once", run: async () => "charged" }),
  tool({ name: "refund", description: "Refunds", input, approval: "always", run: async () => "refunded" }),
];

const machine = conversationMachine({ tools: declarationsOf(tools) });

/** Calls the tool that the last message names, or else repeats the message word by word. */
const llm: ServeOptions["llm"] = async ({ messages }, { onDelta, signal }) => {
  const last = messages.at(-1);
  const text = last === undefined ? "" : textOf(last);
  const name = tools.find(({ declaration }) => declaration.name === text)?.declaration.name;
  if (last?.role === "user" && name !== undefined)
    return { type: "completed", reply: { toolCalls: [{ id: "1", name, arguments: '{"n":1}' }] }, finishReason: null };
  for (const word of text.split(" ")) onDelta({ type: "text", text: word });
  if (text.startsWith("wait")) await new Promise((_, reject) => signal.addEventListener("abort", reject));
  return { type: "completed", reply: { content: text.replaceAll(" ", "") }, finishReason: "stop" };
};

const inMemory = (): Host => createHost({ machine, tools, llm, store: memoryStore({ clock }), clock, ids: randomIds });

/** Approves the calls of an ask. Returns all parts that it shows, and its outcome. */
const followed = async (host: Host, ask: AskHandle): Promise<readonly unknown[]> => {
  const parts: AskPart[] = [];
  for await (const part of ask) {
    const last = parts.at(-1);
    // The size of deltas depends on how soon they are read.
    if (part.type === "text.delta" && last?.type === part.type)
      parts.splice(-1, 1, { ...part, text: last.text + part.text });
    else parts.push(part);
    if (part.type === "approval.requested") await host.thread(ask.threadId).approve(part.request.id);
  }
  return [...parts, await ask.then(({ text }) => text)];
};

withRestate("threads on Restate", (engine) => {
  it.each(["say something", "lookup", "charge", "refund"])("shows of %j what a host in memory shows", async (asked) => {
    const { host } = await engine.start({ machine, tools, llm });
    const options = { threadId: `t ${crypto.randomUUID()}`, askId: "first" };
    const plain = inMemory();
    expect(await followed(host, host.ask(asked, options))).toEqual(await followed(plain, plain.ask(asked, options)));
    await plain.close();
  });

  it("summarises after turns what a host in memory summarises", async () => {
    const policy = compactTurns({ keepTurns: 1, at: 0.6, maxTokens: 40, requestTokens: 4_000 });
    const summarising = conversationMachine({ budget: { tokens: 160, reserve: 20 }, policy });
    const plain = createHost({ machine: summarising, llm, store: memoryStore({ clock }), clock, ids: randomIds });
    const journalOn = async (host: Host): Promise<readonly Entry[]> => {
      const thread = host.thread("summarised");
      for (const askId of ["one", "two", "three", "four"]) {
        await thread.ask(`chapter ${askId} ${"and so on, ".repeat(12)}`, { askId });
        await expect.poll(() => thread.look(({ context }) => context.summarising)).toBe(null);
      }
      return thread.exportJournal();
    };
    const { host } = await engine.start({ machine: summarising, llm });
    const [memory, restate] = [await journalOn(plain), await journalOn(host)];
    expect(memory.some((entry) => "decided" in entry && entry.decided?.summary !== undefined)).toBe(true);
    lawSameJournal({ memory, restate });
    await plain.close();
  });

  it.each([2_000, 0])("keeps just the shown part of a reply that is cut off: %i", async (knownThreads) => {
    const { host } = await engine.start({ machine, tools, llm, onObserverError: () => {}, knownThreads });
    const thread = host.thread("new");
    const ask = thread.ask("wait for me");
    let shown = "";
    for await (const part of ask) {
      if (part.type !== "text.delta") continue;
      shown += part.text;
      if (shown === "waitforme") await thread.cancel("enough");
    }
    await expect(ask).rejects.toThrow("cancelled: enough");
    expect((await thread.exportJournal()).at(-1)).toMatchObject({
      event: { type: "cancel.requested", partial: { content: "waitforme" } },
    });
  });

  it("changes a thread by all methods of a host", async () => {
    const { host } = await engine.start({ machine, tools, llm, snapshotEvery: 2 });
    const thread = host.thread("new");
    await thread.start({ system: "Be brief." });
    await expect(thread.start()).rejects.toThrow("exists");
    await thread.ask("one");
    await thread.ask("two");
    await thread.annotate(2, "score", 1);
    expect(await thread.undo()).toHaveLength(1);
    const { thread: fork } = await thread.fork({ turn: 1 });
    expect((await fork.ask("three")).text).toBe("three");
    expect(await thread.redact({ turn: 1 })).not.toEqual([]);
    expect(JSON.stringify(await thread.exportJournal())).not.toContain('"one"');
    expect((await thread.ask("four")).turn).toBe(3);
    expect(await thread.delete()).toBe(true);
    expect(await thread.state()).toBeNull();
  });

  it("continues when a worker is back, also for a host without a hub", async () => {
    const { host, worker, hub, name } = await engine.start({ machine, tools, llm, snapshotEvery: 2 });
    const asked = host.ask("refund", { threadId: "over two", askId: "a" });
    for await (const part of asked) if (part.type === "approval.requested") break;
    await worker.close();
    await engine.serve({ machine, tools, llm, hub, name, port: Number(new URL(worker.url).port) });
    const other = engine.connect({ name });
    const [request] = await other.thread("over two").approvals();
    await other.thread("over two").approve(request?.id ?? "");
    expect((await asked).text).toBe("refunded");
    expect((await other.ask("refund", { threadId: "over two", askId: "a" })).text).toBe("refunded");
  });

  it("continues at an address that Restate knows already", async () => {
    const { host, worker, hub, name } = await engine.start({ llm });
    await worker.close();
    const newer = await engine.serve({ llm, hub, name });
    await newer.close();
    await engine.serve({ llm, hub, name, port: Number(new URL(worker.url).port) });
    expect((await host.ask("at home")).text).toBe("athome");
  });
});
