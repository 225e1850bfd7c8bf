import { type LlmHandler, tool, TurnFailedError } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { memoryStore, systemClock } from "@colloquy/runtime-node";
import { runningClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { z } from "zod";
import { asked, type Options, seeing, sessionOf } from "../programs.ts";

const usage = { inputTokens: 3, outputTokens: 2 };
const lifespans = ["persistent", "episodic", "shared", "stateless"] as const;

/** Makes a session whose program calls another session, which asks a model. */
const calling = (options: Options, child: Options = {}) => {
  const inner = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("think", q)).text }), { name: "child", ...child });
  const parent = sessionOf((inputs) => inner.call(inputs), { name: "parent", ...options });
  return { inner, parent };
};

test.each(lifespans)(
  "the usage of a caller includes that of its nested program (%s), even if that fails",
  async (lifespan) => {
    const llm = scriptedModel([reply("A", { usage }), fails({ kind: "bad_request" }, { usage })]);
    const { parent } = calling({ llm }, { lifespan });
    expect(await parent.call({ q: "Q1" })).toEqual({ a: "A" });
    expect((await parent.turns())[0]?.usage).toMatchObject({
      inputTokens: { sum: 3, reported: 1 },
      cacheReadTokens: { sum: 0, reported: 0 },
      calls: 1,
    });
    await expect(parent.call({ q: "Q2" })).rejects.toThrow(/bad_request/);
    expect((await parent.thread.state())?.context.usage.total).toMatchObject({ inputTokens: { sum: 6, reported: 2 } });
  },
);

test("a program without model calls has a known usage of zero", async () => {
  const { qa } = seeing();
  await asked(qa, 1);
  const none = { sum: 0, reported: 1 };
  expect((await qa.turns())[0]?.usage).toMatchObject({
    inputTokens: none,
    outputTokens: none,
    cacheReadTokens: { reported: 0 },
  });
});

test.each(lifespans)("the cancellation of a caller also cancels the program that it called (%s)", async (lifespan) => {
  const begun = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  const inner = sessionOf(
    (_, { signal }) => {
      signal.addEventListener("abort", () => heard.resolve());
      begun.resolve();
      return new Promise(() => {});
    },
    { name: "child", lifespan },
  );
  const rejected = Promise.withResolvers<unknown>();
  const parent = sessionOf(
    (inputs) => {
      const called = inner.call(inputs);
      called.catch(rejected.resolve);
      return called;
    },
    { name: "parent" },
  );
  const call = parent.call({ q: "Q" });
  await begun.promise;
  call.abort("enough");
  await expect(call).rejects.toThrow(/cancelled: enough/);
  await heard.promise;
  expect(await rejected.promise).toMatchObject({ message: expect.stringContaining("cancelled") });
});

test.each(["shared", "stateless"] as const)(
  "the close of a session also stops a program without turns (%s) that its program called",
  async (lifespan) => {
    const begun = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const inner = sessionOf(
      (_, { signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        begun.resolve();
        return new Promise(() => {});
      },
      { name: "child", lifespan },
    );
    const parent = sessionOf((inputs) => inner.call(inputs), { name: "parent" });
    const call = parent.call({ q: "Q" });
    await begun.promise;
    await parent.close();
    // The call continues at the next use, so this is not a cancellation.
    expect(reasons.map((reason) => reason instanceof DOMException)).toEqual([false]);
    await expect(call).rejects.toThrow(/was closed here/);
  },
);

test("a trace lists calls of models and of programs in the order of their times", async () => {
  let later = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + later };
  const { qa: child } = seeing({ name: "child" });
  const parent = sessionOf(
    async (inputs, { ask }) => {
      await child.call(inputs);
      later += 1_000;
      return { a: (await ask("think", "Q")).text };
    },
    { name: "parent", llm: scriptedModel([reply("A")]), host: { clock } },
  );
  await asked(parent, 1);
  expect((await parent.trace())?.calls.map(({ name }) => name)).toEqual(["child", "think"]);
});

test("a call that a program makes after its own cancellation is cancelled at once", async () => {
  const outcomes = Promise.withResolvers<unknown>();
  const { qa: inner, seen } = seeing({ name: "child" });
  const parent = sessionOf(
    async (inputs, { signal, ask, status }) => {
      status("begun");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      const calls = [inner.call(inputs), ask("node", "Q")];
      outcomes.resolve(Promise.all(calls.map((each) => each.catch((error: unknown) => String(error)))));
      return { a: "" };
    },
    { name: "parent", llm: scriptedModel([reply("too late")]) },
  );
  const call = parent.call({ q: "Q" });
  for await (const part of call) if (part.type === "status") call.abort("enough");
  expect(await outcomes.promise).toEqual([expect.stringMatching(/cancelled/), expect.stringMatching(/cancelled/)]);
  expect(seen).toEqual([]);
});

test("memory lists the tools of concurrent model calls in the order of these calls", async () => {
  const order = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wait = tool({
    name: "wait",
    description: "Waits.",
    input: z.object({ for: z.number() }),
    run: ({ for: index }) => order[index]?.promise.then(() => String(index)),
  });
  const llm: Options["llm"] = async ({ messages }) => {
    const last = messages.at(-1);
    const written = JSON.stringify(last?.parts);
    const index = written.includes("first") ? 0 : 1;
    const reply =
      last?.role === "tool"
        ? { content: "done" }
        : { toolCalls: [{ id: null, name: "wait", arguments: JSON.stringify({ for: index }) }] };
    return { type: "completed", reply, finishReason: "stop" };
  };
  const { qa: plain } = seeing({ name: "plain", lifespan: "stateless" });
  const inner = sessionOf(
    async (inputs, { ask }) => {
      const first = ask("node", "first");
      const second = ask("node", "second");
      await plain.call(inputs);
      order[1]?.resolve();
      await second;
      order[0]?.resolve();
      return { a: (await first).text };
    },
    { name: "child", lifespan: "stateless", llm, tools: [wait] },
  );
  const parent = sessionOf((inputs) => inner.call(inputs), { name: "parent" });
  await asked(parent, 1);
  expect((await parent.memory()).text).toBe(
    '[Turn 1] Asked: q: Q1 Tools used: wait({"for":0}) -> 0;\nTools used: wait({"for":1}) -> 1; Answered: a: done',
  );
});

test("a model call has a cursor once one of its parts was read, and its program may abort it", async () => {
  const cursors: unknown[] = [];
  const qa = sessionOf(
    async ({ q }, { ask }) => {
      const call = ask("node", q);
      cursors.push(call.cursor);
      for await (const part of call) {
        cursors.push(typeof call.cursor);
        if (part.type === "turn.started") call.abort("enough");
      }
      return { a: await call.then(() => "answered", String) };
    },
    { llm: () => new Promise(() => {}) },
  );
  expect((await qa.call({ q: "Q" })).a).toMatch(/cancelled: enough/);
  expect(cursors.slice(0, 2)).toEqual([null, "string"]);
});

test("a model call with an empty name is rejected", async () => {
  const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("", q)).text }), {
    llm: scriptedModel([reply("A")]),
  });
  await expect(qa.call({ q: "Q" })).rejects.toThrow('the program "qa" calls a model as ""; a call needs a name');
});

test("a trace lists model calls by time, and names the stateless programs that made them", async () => {
  const clock = runningClock();
  const options = { store: memoryStore({ clock }), host: { clock } };
  const llm = scriptedModel(["one", "two", "three"].map((text) => reply(text, { delayMs: 1 })));
  const inner = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("think", q)).text }), {
    name: "child",
    lifespan: "stateless",
  });
  const parent = sessionOf(
    async (inputs, { ask }) => {
      await ask("zero", "Q");
      await inner.call(inputs);
      return { a: (await ask("last", "Q")).text };
    },
    { name: "parent", llm, ...options },
  );
  await asked(parent, 1);
  expect((await parent.trace())?.calls.map(({ name }) => name)).toEqual(["zero", "child/think", "last"]);
  expect(await sessionOf(() => ({ a: "" })).trace()).toBeNull();
});

test("an episodic program keeps no memory without consolidate, and its earlier memory if consolidate fails", async () => {
  const { parent: forgetful, inner } = calling({ llm: scriptedModel([reply("A")]) }, { lifespan: "episodic" });
  await asked(forgetful, 1);
  const [episode] = (await forgetful.trace())?.calls ?? [];
  expect(episode?.name).toBe("child");
  const { metadata } = (await inner.under({ thread: forgetful.thread }).thread.state())?.context ?? { metadata: {} };
  expect(metadata).toEqual({});

  const reported: string[] = [];
  let memories = 0;
  const { qa: child, seen } = seeing({
    name: "child",
    lifespan: "episodic",
    consolidate: () => {
      if (++memories === 2) throw new Error("full");
      return `M${memories}`;
    },
    host: { onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`) },
  });
  const parent = sessionOf((inputs) => child.call(inputs), { name: "parent" });
  await asked(parent, 1, 2, 3);
  expect(seen.map(({ text }) => text)).toEqual(["No prior conversation context.", "M1", "M1"]);
  expect((await child.under(parent).memory()).text).toBe("M3");
  expect(reported).toEqual(["consolidate: Error: full"]);
  // A fork has the memory of the episodes up to its turn.
  expect((await child.under(await parent.fork(1)).memory()).text).toBe("M1");
  expect((await child.under(await (await parent.fork(2)).fork(1)).memory()).text).toBe("M1");
  // Turns of the fork may have the same numbers as turns of the original.
  const other = await parent.fork(1);
  for (const q of ["Q2", "Q3"]) await other.addTurn({ inputs: { q }, outputs: { a: "A" } });
  expect((await child.under(other).memory()).text).toBe("M1");
  expect((await child.under(await parent.fork(0)).memory()).text).toBe("No prior conversation context.");
});

test("an ended call does not prevent the answer to a later call with the same askId", async () => {
  const outer = sessionOf(({ q }) => (q === "again" ? { a: "answered" } : inner.call({ q }, once)), { name: "outer" });
  const once = { askId: "once" };
  const inner = sessionOf(({ q }) => (q === "second" ? outer.call({ q: "again" }) : { a: q }), { name: "inner" }).user(
    "ada",
  );
  expect(await outer.call({ q: "first" })).toEqual({ a: "first" });
  await inner.thread.delete();
  expect(await inner.call({ q: "second" }, once)).toEqual({ a: "answered" });
});

test("each caller of one askId receives the parts and the error of the call", async () => {
  const boom = new RangeError("boom");
  const qa = sessionOf((_, { status }) => {
    status("trying");
    throw boom;
  });
  const once = () => qa.call({ q: "Q" }, { askId: "once" });
  for (const call of [once(), once()]) {
    await expect(call).rejects.toBe(boom);
    const types: string[] = [];
    for await (const { type } of call) types.push(type);
    expect([types.includes("status"), types.at(-1)]).toEqual([true, "turn.ended"]);
  }
  // Later, only the text of the error is left.
  await expect(once()).rejects.toThrow(TurnFailedError);
});

test("a session leaves a call, and its version, to the program of the host that holds the thread", async () => {
  const clock = runningClock();
  const options = { store: memoryStore({ clock }), host: { clock } };
  const gate = Promise.withResolvers<void>();
  const first = sessionOf(({ q }) => gate.promise.then(() => ({ a: `first ${q}` })), options);
  const second = sessionOf(({ q }) => ({ a: `second ${q}` }), { ...options, version: "2" });
  const running = first.call({ q: "Q1" });
  for await (const part of running) if (part.type === "step.started") break;
  const waiting = second.call({ q: "Q2" });
  // The signal reports that the other host queued the call.
  for await (const part of waiting) if (part.type === "signal") break;
  gate.resolve();
  expect([await running, await waiting]).toEqual([{ a: "first Q1" }, { a: "first Q2" }]);
  expect(await second.call({ q: "Q3" })).toEqual({ a: "second Q3" });
  expect((await second.thread.state())?.context.metadata["version"]).toBe("2");
});

test("the journal hides secrets of the model's handler in an error that a program throws", async () => {
  const llm: LlmHandler = Object.assign(
    async () => ({ type: "completed", reply: { content: "A" }, finishReason: "stop" }) as const,
    { secrets: () => ["hush-hush"] },
  );
  const qa = sessionOf(
    () => {
      throw new Error("refused: hush-hush");
    },
    { llm },
  );
  await expect(qa.call({ q: "Q" })).rejects.toThrow("refused: hush-hush");
  expect(JSON.stringify(await qa.thread.exportJournal())).toMatch(/"refused: (?!hush)/);
});

test("a model call copies its input when it is made, and rejects input that JSON cannot express", async () => {
  const llm = scriptedModel([reply("A")]);
  const qa = sessionOf(
    async (_, { ask }) => {
      const part = { type: "text" as const, text: "Q" };
      const asking = ask("node", [part]);
      part.text = "changed";
      const { text } = await asking;
      // Cast: a caller in JavaScript could pass it.
      const date = { type: "data", field: "at", value: new Date(0) as never } as const;
      return { a: `${text} ${await ask("node", [date]).then(() => "answered", String)}` };
    },
    { llm },
  );
  expect((await qa.call({ q: "Q" })).a).toMatch(/^A .*value is a Date/);
  expect(llm.calls[0]?.messages.at(-1)?.parts).toEqual([{ type: "text", text: "Q" }]);
});

test("a model call has the instructions, earlier messages, parameters and metadata that its program gives", async () => {
  const store = memoryStore();
  const llm = scriptedModel([reply("A"), reply("B")]);
  const seed = [{ role: "user", content: "Before" }] as const;
  const options = { system: "Briefly:", seed, model: { temperature: 0 }, metadata: { why: "to test" } };
  const qa = sessionOf(
    async ({ q }, { ask }) => ({ a: `${(await ask("full", q, options)).text}${(await ask("plain", q)).text}` }),
    { store, llm },
  );
  await qa.call({ q: "Q" });
  expect(llm.calls.map(({ messages, model }) => [messages.map(textOf), model])).toEqual([
    [["Briefly:", "Before", "Q"], { temperature: 0 }],
    [["Q"], {}],
  ]);
  const { threads } = await store.list({ metadata: { parentThread: "qa" }, order: "oldest" });
  expect(threads.map(({ metadata }) => [metadata["node"], metadata["ask"]])).toEqual([
    ["full", { why: "to test" }],
    ["plain", undefined],
  ]);
});

test("a trace leaves out a call whose thread is deleted during the read", async () => {
  const store = memoryStore();
  const list = store.list.bind(store);
  let hasDeleted = false;
  const { parent, inner } = calling({
    llm: scriptedModel([reply("A")]),
    store: Object.assign(store, {
      list: async (...options: Parameters<typeof list>) => {
        const page = await list(...options);
        if (page.threads.length > 0 && !hasDeleted) {
          hasDeleted = true;
          await inner.under(parent).thread.delete();
        }
        return page;
      },
    }),
  });
  await asked(parent, 1);
  hasDeleted = false;
  expect((await parent.trace())?.calls).toEqual([]);
});

test("a queued call shows the parts of its program after the start of its turn", async () => {
  const gate = Promise.withResolvers<void>();
  const qa = sessionOf(async ({ q }, { status }) => {
    status(q);
    await gate.promise;
    return { a: q };
  });
  void qa.call({ q: "Q1" });
  const queued = qa.call({ q: "Q2" });
  const types: string[] = [];
  for await (const part of queued) {
    types.push(part.type);
    gate.resolve();
  }
  expect(types).toEqual(["signal", "turn.started", "step.started", "status", "step.ended", "turn.ended"]);
});
