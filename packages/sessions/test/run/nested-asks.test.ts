import { type Message, messageFromDraft, textOf } from "@colloquy/machine";
import { createHost, limitCalls, type LlmHandler, memoryStore } from "@colloquy/runtime-node";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { describe, expect, it, onTestFinished } from "vitest";
import { asked, sessionOf } from "../programs.ts";

const lastText = (messages: readonly Message[]): string => messages.slice(-1).map(textOf).join("");

const usage = { inputTokens: 3, outputTokens: 2 };

describe("a model call within a program", () => {
  it("is a thread of its own that hangs from the turn, and its usage is the turn's", async () => {
    const store = memoryStore();
    const llm = scriptedModel([reply("one", { usage }), reply("two", { usage })]);
    const qa = sessionOf(
      async ({ q }, { ask }) => {
        const [draft, check] = await Promise.all([ask("draft", q), ask("check", q, { system: "Be strict." })]);
        return { a: `${draft.text} ${check.text}` };
      },
      { store, llm },
    );
    expect(await qa.call({ q: "Q1" })).toEqual({ a: "one two" });
    const [turn] = await qa.turns();
    expect(turn?.usage.inputTokens).toMatchObject({ sum: 6, reported: 1 });
    const { threads } = await store.list({ metadata: { parentThread: "qa", parentTurn: 1 } });
    expect(new Set(threads.map(({ metadata }) => metadata["node"]))).toEqual(new Set(["check", "draft"]));
    expect(new Set(llm.calls.map(({ messages }) => messages.length))).toEqual(new Set([1, 2]));
  });

  it("is not made again where its answer was journalled, told apart by name, input and how often it was asked", async () => {
    const store = memoryStore();
    const llm = scriptedModel([reply("one"), reply("two"), reply("three")]);
    let dies = true;
    const options = {
      store,
      llm,
      host: { onObserverError: () => {} },
    };
    const again: string[][] = [];
    const make = () =>
      sessionOf(async (_, { ask, signal }) => {
        const texts: string[] = [];
        for (const input of ["same", "same", "other"]) texts.push((await ask("node", input)).text);
        again.push(texts);
        if (dies) await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
        return { a: texts.join(" ") };
      }, options);
    const first = make();
    const lost = first.call({ q: "Q" }, { askId: "once" });
    for await (const part of lost)
      if (part.type === "nested" && part.part.type === "turn.ended" && again.length === 1) break;
    await first.close();
    await expect(lost).rejects.toThrow(/was closed here/);
    dies = false;
    const second = make();
    expect(await second.call({ q: "Q" }, { askId: "once" })).toEqual({ a: "one two three" });
    expect(again).toEqual([
      ["one", "two", "three"],
      ["one", "two", "three"],
    ]);
    llm.assertComplete();
    expect(await second.count()).toBe(1);
  });

  it("rejects as asks do, and what it used counts all the same", async () => {
    const llm = scriptedModel([fails({ kind: "bad_request" }, { usage })]);
    const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("draft", q)).text }), { llm });
    const failed = qa.call({ q: "Q1" });
    await expect(failed).rejects.toThrow(/bad_request/);
    const state = await qa.thread.state();
    expect(state?.context.usage.total.inputTokens.sum).toBe(3);
  });

  it("needs a model, and says so", async () => {
    const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("draft", q)).text }));
    await expect(qa.call({ q: "Q1" })).rejects.toThrow(
      'the program "qa" calls a model, and its session has none; give session the option llm',
    );
  });
});

describe("a session within a model handler", () => {
  it("is answered when the calls of its model and of the handler share one place", async () => {
    const called = { now: 0, most: 0, times: 0 };
    const leaf: LlmHandler = async ({ messages }) => {
      called.times++;
      called.most = Math.max(called.most, ++called.now);
      await new Promise((resolve) => setImmediate(resolve));
      called.now--;
      return { type: "completed", reply: { content: `<${lastText(messages)}>` }, finishReason: "stop" };
    };
    const llm = limitCalls(leaf, { atOnce: 1 });
    const store = memoryStore();
    const inner = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("think", q)).text }), { store, llm });
    const outer = createHost({
      store,
      llm: async (call, context) => {
        const { a } = await inner.user(call.threadId).call({ q: lastText(call.messages) });
        return llm({ ...call, messages: [messageFromDraft("a", { role: "user", content: a })] }, context);
      },
    });
    onTestFinished(() => outer.close());
    const asks = Array.from({ length: 20 }, (_, index) => outer.ask(`Q${index}`, { threadId: `t${index}` }));
    const texts = (await Promise.all(asks)).map(({ text }) => text);
    expect(texts).toEqual(asks.map((_, index) => `<<Q${index}>>`));
    expect(called).toEqual({ now: 0, most: 1, times: 40 });
  });
});

it("the trace of a turn has the calls within, those of nested programs too, and prints as a tree", async () => {
  const llm = scriptedModel(["one", "two", "three", "four"].map((text) => reply(text, { usage })));
  const child = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("think", q)).text }), { name: "child" });
  const qa = sessionOf(
    async ({ q }, { ask }) => {
      const draft = await ask("draft", q);
      return child.call({ q: draft.text });
    },
    { llm },
  );
  await asked(qa, 1, 2);
  expect(Object.keys((await qa.trace(2)) ?? {})).not.toContain("toString");
  const tree = String(await qa.trace(2)).replaceAll(/\.[^ ]*\.1\)/g, ")");
  expect(tree).toBe(
    [
      "qa: completed, 6 tokens in, 4 out (turn 2 of qa)",
      "├─ draft: completed, 3 tokens in, 2 out (turn 1 of qa/2/draft)",
      "└─ child: completed, 3 tokens in, 2 out (turn 2 of qa/child)",
      "   └─ think: completed, 3 tokens in, 2 out (turn 1 of qa/child/2/think)",
    ].join("\n"),
  );
  const fork = await qa.fork();
  expect((await fork.trace(1))?.calls.map(({ name }) => name)).toEqual(["draft", "child"]);
  expect(await qa.trace(3)).toBeNull();
});

describe("a program that calls its own session", () => {
  it("on the same thread is refused in words, and does not wait for ever", async () => {
    const qa = sessionOf(() => user.call({ q: "inner" }));
    const user = qa.user("ada");
    await expect(user.call({ q: "outer" })).rejects.toThrow(
      /the program "qa" calls its own session on thread "qa:ada"/,
    );
    const itself = sessionOf(() => itself.call({ q: "inner" }));
    await expect(itself.call({ q: "outer" })).rejects.toThrow(/calls its own session/);
  });

  it("is refused through other programs as well, also through one without turns", async () => {
    const middle = sessionOf(() => inner.call({ q: "inner" }), { name: "middle" });
    const inner = sessionOf(() => outer.call({ q: "again" }), { name: "inner", lifespan: "stateless" });
    const outer = sessionOf(() => middle.call({ q: "middle" }), { name: "outer" });
    await expect(outer.call({ q: "outer" })).rejects.toThrow(/the program "outer" calls its own session/);
    expect(await outer.count()).toBe(0);
  });

  it("may do so on another thread", async () => {
    const qa = sessionOf(({ q }) => (q === "outer" ? qa.user("other").call({ q: "inner" }) : { a: q }));
    expect(await qa.call({ q: "outer" })).toEqual({ a: "inner" });
  });
});
