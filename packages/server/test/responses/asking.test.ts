import type { HostedThread } from "@colloquy/host";
import { never, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { textOf } from "@colloquy/machine";
import type { Host } from "@colloquy/runtime-node";
import type OpenAI from "openai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { post } from "../serving.ts";
import { approvalOf, lookUp, outputOf, refund, responding, waitsFor, weather } from "./responding.ts";

const asked = { model: "any", input: "Hi" } as const;
const earlier = [
  { role: "user", content: "One" },
  { role: "assistant", content: "Two" },
] as const;
const system = { role: "system", content: "Shout." } as const;
const question = { role: "user", content: "Three" } as const;

const served = (...texts: readonly string[]) => {
  const llm = scriptedModel(texts.map((text) => reply(text)));
  const prompt = (): readonly string[] => llm.calls.at(-1)?.messages.map(textOf) ?? [];
  return { prompt, llm, ...responding(llm, { system: "Be brief.", tools: [weather] }) };
};

describe.each([true, false])("a request with store: %s is asked", (store) => {
  test.each<readonly [string, OpenAI.Responses.ResponseInput, object, readonly string[]]>([
    ["the host's, without one of its own", [question], {}, ["Be brief.", "Three"]],
    ["the host's, after earlier turns", [...earlier, question], {}, ["Be brief.", "One", "Two", "Three"]],
    ["that of its input", [system, question], {}, ["Shout.", "Three"]],
    ["that of its input, before earlier turns", [system, ...earlier, question], {}, ["Shout.", "One", "Two", "Three"]],
    ["its instructions", [question], { instructions: "Rhyme." }, ["Rhyme.", "Three"]],
    [
      "its instructions, before earlier turns",
      [...earlier, question],
      { instructions: "Rhyme." },
      ["Rhyme.", "One", "Two", "Three"],
    ],
  ])("under one system prompt: %s", async (_, input, more, expected) => {
    const { client, prompt } = served("Fine.");
    await client.responses.create({ model: "any", input, store, ...more });
    expect(prompt()).toEqual(expected);
  });

  test("after the response that it names, even if that is not the newest, and otherwise at the end", async () => {
    const { client, prompt } = served("1", "2", "3", "4", "5");
    const first = await client.responses.create({ ...asked, input: "a" });
    const conversation = first.conversation?.id ?? "";
    await client.responses.create({ ...asked, input: "b", previous_response_id: first.id });
    await client.responses.create({ ...asked, input: "c", store, previous_response_id: first.id });
    expect(prompt()).toEqual(["Be brief.", "a", "1", "c"]);
    await client.responses.create({ ...asked, input: "d", store, conversation: { id: conversation } });
    expect(prompt()).toEqual(["Be brief.", "a", "1", "b", "2", "d"]);
    await client.responses.create({ ...asked, input: [...earlier, question], store, previous_response_id: first.id });
    expect(prompt()).toEqual(["Be brief.", "a", "1", "One", "Two", "Three"]);
  });
});

test("a response continues the thread of the newest one, and another thread if it brings earlier turns along", async () => {
  const { client } = served("1", "2", "3");
  const first = await client.responses.create(asked);
  const next = await client.responses.create({ ...asked, previous_response_id: first.id });
  const input = [...earlier, question];
  const other = await client.responses.create({ model: "any", input, previous_response_id: next.id });
  expect(next.conversation).toEqual(first.conversation);
  expect(other.conversation).not.toEqual(first.conversation);
});

test("a message after a response that waits for its caller takes the place of its turn, in the same thread", async () => {
  const llm = scriptedModel([toolCalls([{ name: "look_up", arguments: { id: "7" } }]), reply("As you like.")]);
  const { client, host } = responding(llm);
  const first = await client.responses.create({ ...asked, tools: [lookUp] });
  const next = await client.responses.create({ ...asked, input: "Never mind.", previous_response_id: first.id });
  expect([next.conversation, next.output_text]).toEqual([first.conversation, "As you like."]);
  const asks = await host.thread(first.conversation?.id ?? "").asks();
  expect(asks.map(({ status }) => status)).toEqual(["cancelled", "completed"]);
});

test.each([true, false])(
  "a response that is not stored leaves nothing when it has ended (stream: %s)",
  async (stream) => {
    const { client, host } = served("Fine.");
    const memories: Host[] = [];
    const inMemory = host.inMemory.bind(host);
    host.inMemory = () => {
      const memory = inMemory();
      memories.push(memory);
      return memory;
    };
    if (stream) for await (const event of await client.responses.create({ ...asked, store: false, stream })) void event;
    else await client.responses.create({ ...asked, store: false });
    expect(memories).toHaveLength(1);
    for (const each of [host, ...memories]) await expect.poll(async () => (await each.threads()).threads).toEqual([]);
  },
);

test("a request that is refused after an earlier response leaves no copy of its thread", async () => {
  const { client, host } = served("1", "2");
  const first = await client.responses.create(asked);
  await client.responses.create({ ...asked, previous_response_id: first.id });
  const before = (await host.threads()).threads.map(({ threadId }) => threadId);
  // The host refuses a tool of the name of its own.
  const tools = [{ ...lookUp, name: "weather" }];
  await expect(client.responses.create({ ...asked, tools, previous_response_id: first.id })).rejects.toMatchObject({
    status: 400,
  });
  expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(before);
});

test("a request under a key that was refused deletes no thread that its next copy may have found", async () => {
  const { client, host, prompt } = served("1", "2", "3");
  const first = await client.responses.create(asked);
  await client.responses.create({ ...asked, previous_response_id: first.id });
  const sent = { ...asked, input: "And?", previous_response_id: first.id };
  const headers = { "idempotency-key": "one" };
  // The host refuses a tool of the name of its own.
  const tools = [{ ...lookUp, name: "weather" }];
  await expect(client.responses.create({ ...sent, tools }, { headers })).rejects.toMatchObject({ status: 400 });
  const { threads } = await host.threads();
  expect(threads).toHaveLength(2);
  const next = await client.responses.create(sent, { headers });
  expect(threads.map(({ threadId }) => threadId)).toContain(next.conversation?.id);
  expect(prompt()).toEqual(["Be brief.", "Hi", "1", "And?"]);
});

describe("a response to continue", () => {
  test.each(["resp_2_1", "resp_0_1", "resp_1_2", "resp_1_0"])("is not %s if that is not there", async (name) => {
    const { client, host } = served("1");
    const first = await client.responses.create(asked);
    const previous = `${name}_${first.conversation?.id}`;
    await expect(client.responses.create({ ...asked, previous_response_id: previous })).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
    });
    expect(await host.thread(first.conversation?.id).asks()).toHaveLength(1);
  });

  test("may be named by one of its items, beside its conversation too", async () => {
    const { client, prompt } = served("1", "2", "3");
    const first = await client.responses.create({ ...asked, input: "a" });
    const input = [{ type: "item_reference", id: first.output[0]?.id ?? "" } as const, question];
    const conversation = first.conversation?.id ?? "";
    for (const [more, texts] of [
      [{}, ["Three"]],
      [{ conversation }, ["Three", "2", "Three"]],
    ] as const) {
      const next = await client.responses.create({ ...asked, ...more, input });
      expect(next.conversation?.id).toBe(conversation);
      expect(prompt()).toEqual(["Be brief.", "a", "1", ...texts]);
    }
  });
});

describe("a client that sends the whole history with the output of a call", () => {
  const calls = toolCalls([{ name: "look_up", arguments: { id: "7" } }]);

  test.each<readonly [string, (first: OpenAI.Responses.Response) => object, string, boolean]>([
    ["continues the turn of its conversation", ({ conversation }) => ({ conversation }), '{"id":"7"}', true],
    [
      "continues the turn of its thread's id",
      ({ conversation }) => ({ conversation: conversation?.id }),
      '{"id":"7"}',
      true,
    ],
    ["continues the turn of its response", ({ id }) => ({ previous_response_id: id }), '{"id":"7"}', true],
    ["has another call answered elsewhere", () => ({}), '{"id":"8"}', false],
  ])("%s", async (_, place, written, isContinued) => {
    const { client, host } = responding(scriptedModel([calls, reply("Ada.")]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const [call] = first.output;
    if (call?.type !== "function_call") throw new Error("the model called no tool");
    const input = [
      { role: "user", content: "Hi" } as const,
      { ...call, arguments: written },
      outputOf(call.call_id, "Ada"),
    ];
    const second = await client.responses.create({ model: "any", input, ...place(first) });
    expect(second.output_text).toBe("Ada.");
    expect(second.conversation?.id === first.conversation?.id).toBe(isContinued);
    const state = await host.thread(first.conversation?.id).state();
    expect(state?.context.open === null).toBe(isContinued);
  });
});

test("a call that is denied for a reason tells the model that, and the journal who denied it", async () => {
  const llm = scriptedModel([toolCalls([{ name: "refund", arguments: { order: "A1" } }]), reply("As you like.")]);
  const { client, host } = responding(llm, { tools: [refund] }, { authenticate: () => ({ id: "ada" }) });
  const first = await client.responses.create(asked);
  const denial = { ...approvalOf(waitsFor(first).approval, false), reason: "It is too much." };
  await client.responses.create({ model: "any", input: [denial], previous_response_id: first.id });
  expect(llm.calls.at(-1)?.messages.map(textOf).join()).toContain("It is too much.");
  const journal = await host.thread(first.conversation?.id).exportJournal();
  expect(journal.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: "approval.answered", approved: false, by: "ada", reason: "It is too much." }),
  );
});

test("a response that is not stored is cancelled if its client leaves before it begins", async () => {
  const leaving = new AbortController();
  const modelParameters = () => {
    leaving.abort();
    return {};
  };
  const { server } = responding(scriptedModel([never()]), {}, { responses: { modelParameters } });
  const request = post("/v1/responses", { ...asked, store: false });
  const response = await server.fetch(new Request(request, { signal: leaving.signal }));
  expect(await response.json()).toMatchObject({ status: "cancelled" });
});

test("a response that is not stored can't follow one that is still in progress, and the client is told so", async () => {
  const { client } = responding(scriptedModel([never()]));
  const { id } = await client.responses.create({ ...asked, background: true });
  await expect(client.responses.create({ ...asked, store: false, previous_response_id: id })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("there is no closed turn 1"),
  });
});

describe("a request with earlier turns", () => {
  const sent = { model: "any", input: [...earlier, question] };

  test("starts its thread under the system message of its input, which is never changed", async () => {
    const { client, host } = served("Fine.");
    const { conversation } = await client.responses.create({ model: "any", input: [system, ...earlier, question] });
    const journal = await host.thread(conversation?.id ?? "").exportJournal();
    expect(journal[0]?.event).toMatchObject({ system: "Shout." });
    expect(journal.map(({ event }) => event.type)).not.toContain("system.changed");
  });

  test("is asked after them if an earlier copy of it stored them before", async () => {
    const { client, host, prompt } = served("Fine.");
    const importMessages = host.importMessages.bind(host);
    vi.spyOn(host, "importMessages").mockImplementationOnce(async (...given) => {
      await importMessages(...given);
      return importMessages(...given);
    });
    expect((await client.responses.create(sent)).output_text).toBe("Fine.");
    expect(prompt()).toEqual(["Be brief.", "One", "Two", "Three"]);
  });

  /** Replaces the next fork of a thread of any host. */
  const forking = (host: Host, replaced: (fork: () => Promise<unknown>) => Promise<unknown>) => {
    // Cast: all threads of hosts have one prototype.
    const threads = Object.getPrototypeOf(host.thread("any")) as Pick<HostedThread, "fork">;
    const { fork } = threads;
    vi.spyOn(threads, "fork").mockImplementationOnce(function (this: HostedThread, ...given) {
      // Cast: only whether it fails is read.
      return replaced(() => fork.apply(this, given)) as ReturnType<typeof fork>;
    });
    onTestFinished(() => void vi.restoreAllMocks());
  };

  test("is asked after an earlier response and them if an earlier copy of it made the copy of the thread", async () => {
    const { client, host, prompt } = served("1", "2");
    const { id } = await client.responses.create({ ...asked, input: "a" });
    forking(host, async (fork) => {
      await fork();
      return fork();
    });
    await client.responses.create({ ...sent, previous_response_id: id });
    expect(prompt()).toEqual(["Be brief.", "a", "1", "One", "Two", "Three"]);
  });

  test("is not asked without an earlier response if its thread can't be copied", async () => {
    const { client, host, llm } = served("1");
    const { id } = await client.responses.create({ ...asked, input: "a" });
    forking(host, () => Promise.reject(new Error("the disk is full")));
    const refused = client.responses.create({ ...sent, previous_response_id: id });
    await expect(refused).rejects.toMatchObject({ status: 500 });
    expect(llm.calls).toHaveLength(1);
  });

  test("is not asked without them if they can't be stored", async () => {
    const { client, host, llm } = served();
    vi.spyOn(host, "importMessages").mockRejectedValueOnce(new Error("the disk is full"));
    await expect(client.responses.create(sent)).rejects.toMatchObject({ status: 500 });
    expect(llm.calls).toEqual([]);
  });
});

test("a model is offered the tools of a request as they are declared, also those without description or parameters", async () => {
  const offered: unknown[] = [];
  const model = scriptedModel([reply("Fine.")]);
  const { client } = responding(async (call, context) => {
    offered.push(...context.tools);
    return model(call, context);
  });
  const bare = { type: "function", name: "ping", parameters: null, strict: null } as const;
  await client.responses.create({ ...asked, tools: [lookUp, bare] });
  const { name, description, parameters } = lookUp;
  expect(offered).toMatchObject([{ name, description, parameters }, { name: "ping" }]);
  expect(offered[1]).not.toHaveProperty("description");
});

test.each<readonly [string, (other: OpenAI.Responses.Response) => object]>([
  ["conversation", ({ conversation }) => ({ conversation })],
  ["conversation's id", ({ conversation }) => ({ conversation: conversation?.id })],
  ["response", ({ id }) => ({ previous_response_id: id })],
])(
  "a call that is answered beside another %s is history there, and still waits where it was made",
  async (_, place) => {
    const calls = toolCalls([{ name: "look_up", arguments: { id: "7" } }]);
    const { client, host } = responding(scriptedModel([calls, reply("Hi."), reply("Ada.")]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const other = await client.responses.create(asked);
    const [call] = first.output;
    if (call?.type !== "function_call") throw new Error("the model called no tool");
    const input = [{ role: "user", content: "Hi" } as const, call, outputOf(call.call_id, "Ada")];
    await client.responses.create({ model: "any", input, ...place(other) });
    const state = await host.thread(first.conversation?.id).state();
    expect(state?.context.open?.number).toBe(1);
  },
);
