import { ConfigurationError, textOf } from "@colloquy/machine";
import { LimitReachedError } from "@colloquy/runtime-node";
import { expect, test } from "vitest";
import { agentHost } from "../../src/agents/index.ts";
import { hostOf, pair, passing } from "./agents.ts";

const named = {
  "agent.yaml":
    "name: top\nmodel: large\nmodelParameters: { temperature: 0 }\ninstructions: pass on to helper\ncompression: none\nsubagents: [./helper.yaml, ./other.yaml]",
  "helper.yaml": "name: helper\nmodel: small\ncompression: none\nmodelParameters: { top_p: 1 }",
  "other.yaml": "name: other\ncompression: none",
};

test("each agent runs with the model and the parameters of its file", async () => {
  const asked: unknown[] = [];
  const models =
    (model: string | null) =>
    (...[call, context]: Parameters<typeof passing>) => {
      asked.push([model, call.threadId, call.model]);
      return passing(call, context);
    };
  const { host } = await hostOf(named, { models });
  await host.ask("a", { threadId: "t" });
  expect(asked).toEqual([
    ["large", "t", { model: "large", temperature: 0 }],
    ["small", "t/helper", { model: "small", top_p: 1 }],
    ["large", "t", { model: "large", temperature: 0 }],
  ]);
});

test("what is given goes before the file, and a subagent that names no model has that of its caller", async () => {
  const asked: unknown[] = [];
  const files = { ...named, "agent.yaml": named["agent.yaml"].replace("to helper", "to other") };
  const models =
    (model: string | null) =>
    (...[call, context]: Parameters<typeof passing>) => {
      asked.push([model, call.threadId, call.messages.filter(({ role }) => role === "system").map(textOf)]);
      return passing(call, context);
    };
  const { host } = await hostOf(files, {
    models,
    model: "huge",
    system: "pass on to helper",
    machine: { limits: { steps: 1 } },
  });
  await expect(host.ask("a", { threadId: "t" })).rejects.toThrow(LimitReachedError);
  expect(asked).toEqual([
    ["huge", "t", ["pass on to helper"]],
    ["small", "t/helper", []],
  ]);
  const { host: other } = await hostOf(files, { models, model: "huge" });
  asked.length = 0;
  await other.ask("a", { threadId: "t" });
  expect(asked.slice(0, 2)).toEqual([
    ["huge", "t", ["pass on to other"]],
    ["huge", "t/other", []],
  ]);
});

test("an agent's host makes one host for each subagent, and closes it together with itself", async () => {
  const { host } = await hostOf(pair("parent"));
  const helper = host.subagent("helper");
  expect(host.subagent("helper")).toBe(helper);
  await helper.ask("a");
  await host.close();
  await expect(helper.ask("b")).rejects.toThrow(/closed/);
});

test("a thread of a subagent queues 64 asks, and rejects the next one", async () => {
  const { host } = await hostOf(pair("parent"), { llm: () => new Promise(() => {}) });
  const thread = host.subagent("helper").thread("t");
  const rejections = Array.from({ length: 67 }, (_, index) =>
    thread.ask(String(index)).then(
      () => null,
      () => index,
    ),
  );
  // The first one runs.
  expect(await Promise.race(rejections)).toBe(1 + 64);
  await host.close();
});

test("the limit of a file ends a turn", async () => {
  const files = pair("own");
  const { host } = await hostOf({ ...files, "agent.yaml": `${files["agent.yaml"] ?? ""}\nlimits: { steps: 1 }` });
  await expect(host.ask("a")).rejects.toThrow(LimitReachedError);
});

test("earlier turns are shown as the file says", async () => {
  const prompts: (readonly string[])[] = [];
  const llm: typeof passing = async (call, context) => {
    if (call.purpose === "summary")
      return { type: "completed", reply: { content: "They talked." }, finishReason: "stop" };
    prompts.push(call.messages.map(textOf));
    return passing(call, context);
  };
  for (const memory of ["{ maxTurns: 1, compression: none }", "{ maxTurns: 0 }", "{ maxTurns: 2 }"]) {
    const { host } = await hostOf({ "agent.yaml": `name: a\nmemory: ${memory}` }, { llm });
    for (const word of ["a", "b", "c", "d"]) {
      await host.ask(word, { threadId: "t" });
    }
  }
  expect(prompts[3]).toEqual(["c", "c", "d"]);
  expect(prompts[7]).toEqual(["d"]);
  expect(prompts[11]?.[0]).toBe("Earlier in this conversation:\n[Turn 2] They talked.");
});

test("options that are invalid are refused", async () => {
  const { host, store } = await hostOf(pair("parent"));
  const { agent } = host;
  expect(() => agentHost(agent, { store })).toThrow(ConfigurationError);
  // Cast: a caller in JavaScript could omit the store.
  const storeless = { llm: passing } as Parameters<typeof agentHost>[1];
  expect(() => agentHost(agent, storeless)).toThrow(
    "agentHost: store must be a store, such as memoryStore() (got undefined)",
  );
  expect(() => agentHost(agent, { store, llm: passing, models: () => passing })).toThrow(/takes either llm/);
  expect(() => host.subagent("helper", "none")).toThrow('agent "helper" has no subagent "none"; there are: none');
  expect(() => host.subagent("none")).toThrow('agent "top" has no subagent "none"; there are: helper');
});

test.each<readonly [object, string]>([
  [{ llm: 7 }, "agentHost: llm must be a function (got 7)"],
  [{ llm: undefined, models: 7 }, "agentHost: models must be a function (got 7)"],
  [{ model: 7 }, "agentHost: model must be a text that is not empty (got 7)"],
  [{ machine: 7 }, "agentHost: machine must be an object (got 7)"],
  [{ thread: 7 }, "agentHost: thread must be an object (got 7)"],
  [{ system: 7 }, "agentHost: system must be a text, or { role, content } (got 7)"],
  [{ system: { role: "system" } }, "agentHost: system must be a text, or { role, content }"],
  [{ tools: [] }, "agentHost: tools must be left out: the tools are those of the agent"],
])("agentHost rejects the options %j", async (options, says) => {
  const { host, store } = await hostOf(pair("parent"));
  expect(() => agentHost(host.agent, { store, llm: passing, ...options })).toThrow(says);
});

test("agentHost rejects a value that is not an agent, and options that are not an object", async () => {
  const { host, store } = await hostOf(pair("parent"));
  const { tools: _, ...others } = host.agent;
  // Casts: a caller in JavaScript could pass these.
  expect(() => agentHost(others as typeof host.agent, { store, llm: passing })).toThrow(/agent must be an agent, as/);
  expect(() => agentHost(host.agent, 7 as never)).toThrow("agentHost: options must be an object (got 7)");
});

test("inMemory returns a host that answers as the agent does, and leaves the store unchanged", async () => {
  const { host, store } = await hostOf(pair("parent"));
  const copy = host.inMemory();
  expect((await copy.ask("a", { threadId: "t" })).text).toBe("a");
  expect([(await copy.threads()).threads.length, (await store.list()).threads]).toEqual([1, []]);
  await copy.close();
});

test("an agent's host imports journals, lists threads, and starts threads with the agent's instructions", async () => {
  const files = { "agent.yaml": "name: a\ninstructions: listen\ncompression: none" };
  const { host } = await hostOf(files, { thread: { metadata: { from: "phone" } }, defaultThread: "main" });
  await host.ask("a");
  const state = await host.thread("main").state();
  expect(state?.context.metadata).toEqual({ from: "phone" });
  expect(textOf(state?.context.conversation.system ?? never())).toBe("listen");
  const { id } = await host.importJournal(await host.thread("main").exportJournal(), { threadId: "copy" });
  expect((await host.thread(id).ask("b")).text).toBe("a,b");
  const found = await host.threads();
  expect(found.threads.map(({ threadId }) => threadId).toSorted()).toEqual(["copy", "main"]);
});

const never = (): never => {
  throw new Error("there is none");
};
