import { never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { virtualClock } from "@colloquy/runtime-test";
import { createHost, type Host, memoryStore, type Store, tool } from "@colloquy/runtime-node";
import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { approvalOf, lookUp, outputOf, refund, responding, respondingOf, streamed, waitsFor } from "./responding.ts";

const asked = { model: "any", input: "Hi" } as const;
const oneCall = toolCalls([{ name: "look_up", arguments: { id: "7" } }]);
const refunding = toolCalls([{ name: "refund", arguments: { order: "A1" } }]);

const threadOf = (host: Host, { conversation }: OpenAI.Responses.Response) => host.thread(conversation?.id ?? "");

describe("answers that are wrong in part are refused as a whole, and nothing is journalled", () => {
  test.each([
    [
      "a result for a tool of the host, which waits for approval",
      (call: string, approval: string) => [
        outputOf(call, "x"),
        outputOf(approval.replace(/^mcpr\d+/u, "call"), "Paid."),
      ],
      "is the host's",
    ],
    [
      "two results for one call",
      (call: string, approval: string) => [outputOf(call, "x"), outputOf(call, "y"), approvalOf(approval, true)],
      "answered twice",
    ],
    [
      "yes and no",
      (call: string, approval: string) => [
        outputOf(call, "x"),
        approvalOf(approval, false),
        approvalOf(approval, true),
      ],
      "answered twice",
    ],
    [
      "an approval of another request for the call",
      (call: string, approval: string) => [outputOf(call, "x"), approvalOf(approval.replace("mcpr1", "mcpr2"), true)],
      "nothing waits for",
    ],
    [
      "a call that was never made",
      (call: string, approval: string) => [
        outputOf(call, "x"),
        outputOf(call.replace("call_1_1_0", "call_1_1_9"), "x"),
        approvalOf(approval, true),
      ],
      "no tool call 1.1.9",
    ],
    [
      "what an assistant said besides",
      (call: string, approval: string) => [
        outputOf(call, "x"),
        approvalOf(approval, true),
        { role: "assistant", content: "Never mind." },
      ],
      "only what a user says",
    ],
  ] as const)("%s", async (_, answers, words) => {
    const both = toolCalls([
      { name: "look_up", arguments: { id: "7" } },
      { name: "refund", arguments: { order: "A1" } },
    ]);
    const { client, host } = responding(scriptedModel([both, reply("Done.")]), { tools: [refund] });
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const { call, approval } = waitsFor(first);
    const journal = await threadOf(host, first).exportJournal();
    const body = { model: "any", input: answers(call, approval), previous_response_id: first.id };
    const refused = client.post("/responses", { body });
    await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining(words) });
    expect(await threadOf(host, first).exportJournal()).toEqual(journal);
    const input = [outputOf(call, "x"), approvalOf(approval, true)];
    const second = await client.responses.create({ model: "any", input, previous_response_id: first.id });
    expect(second.output_text).toBe("Done.");
  });

  test("outputs for a call of another turn, and outputs for a thread that was deleted", async () => {
    const { client, host } = responding(scriptedModel([oneCall, reply("Done."), reply("Well.")]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const { call } = waitsFor(first);
    const answer = (output: string, previous?: string) =>
      client.post("/responses", {
        body: { model: "any", input: [outputOf(output, "x")], previous_response_id: previous },
      });
    for (const other of ["call_2_1_0", "call_1_1_1"])
      await expect(answer(call.replace("call_1_1_0", other), first.id)).rejects.toMatchObject({ code: "no_such_call" });
    await threadOf(host, first).delete();
    await expect(answer(call)).rejects.toMatchObject({ status: 400, code: "item_not_found" });
  });

  test("outputs for a stored response by a request that is not to be stored", async () => {
    const { client, host } = responding(scriptedModel([oneCall]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const journal = await threadOf(host, first).exportJournal();
    const input = [outputOf(waitsFor(first).call, "x")];
    const refused = client.responses.create({ model: "any", input, previous_response_id: first.id, store: false });
    await expect(refused).rejects.toMatchObject({ status: 400, param: "store" });
    expect(await threadOf(host, first).exportJournal()).toEqual(journal);
  });
});

describe("approvals", () => {
  test("that were given elsewhere are given again in vain, and not taken back", async () => {
    const { client, host } = responding(scriptedModel([refunding, reply("Done.")]), { tools: [refund] });
    const first = await client.responses.create(asked);
    const { approval } = waitsFor(first);
    const thread = threadOf(host, first);
    await (
      await thread.approve((await thread.approvals())[0]?.id ?? "")
    ).turn;
    const again = (approve: boolean) =>
      client.responses.create({ model: "any", input: [approvalOf(approval, approve)], previous_response_id: first.id });
    expect((await again(true)).output_text).toBe("Done.");
    await expect(again(false)).rejects.toMatchObject({ status: 400, code: "no_such_call" });
  });

  test("begin a response at once, which may be cancelled while its tool runs", async () => {
    const running = Promise.withResolvers<void>();
    const slow = tool({
      name: "refund",
      description: "Refunds an order, in its own time.",
      input: z.object({ order: z.string() }),
      approval: "always",
      run: (_, { signal }) => {
        running.resolve();
        return new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const { client } = responding(scriptedModel([refunding]), { tools: [slow] });
    const first = await client.responses.create(asked);
    const input = [approvalOf(waitsFor(first).approval, true)];
    const second = await client.responses.create({ model: "any", input, background: true });
    expect(second).toMatchObject({ status: "in_progress", previous_response_id: first.id });
    await running.promise;
    expect((await client.responses.cancel(second.id)).status).toBe("cancelled");
    expect((await client.responses.retrieve(second.id)).status).toBe("cancelled");
  });

  test("of a call that is asked about anew, by a server that showed nothing of it, end their response with the new request", async () => {
    const store = memoryStore();
    const before = createHost({ llm: scriptedModel([refunding]), store, tools: [refund] });
    const first = await respondingOf(before).client.responses.create(asked);
    await before.close();
    const changed = tool({
      name: "refund",
      description: "Refunds an order.",
      input: z.object({ order: z.string(), amount: z.number().default(5) }),
      approval: "always",
      run: ({ amount }) => `Refunded ${amount}`,
    });
    const host = createHost({ llm: scriptedModel([reply("Done.")]), store, tools: [changed] });
    const { client } = respondingOf(host);
    const approve = (response: OpenAI.Responses.Response) =>
      client.responses.create({ model: "any", input: [approvalOf(waitsFor(response).approval, true)] });
    const second = await approve(first);
    expect(second.output).toMatchObject([{ type: "mcp_approval_request", arguments: '{"order":"A1","amount":5}' }]);
    expect((await approve(second)).output_text).toBe("Done.");
  });
});

describe("while a conversation is busy", () => {
  const busy = async () => {
    const clock = virtualClock();
    const llm = scriptedModel(["one", "two", "three"].map((text) => reply(text, { delayMs: 1000 })));
    const served = responding(llm, { clock, store: memoryStore({ clock }) }, { clock });
    await served.host.thread("c").start({ system: "Be brief." });
    const ask = (more: object, key?: string): Promise<OpenAI.Responses.Response> =>
      served.client.post("/responses", {
        body: { ...asked, conversation: "c", background: true, ...more },
        ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
      });
    return { ...served, clock, llm, ask };
  };

  test("a queued request that is sent again is the same, and any other under its key is refused", async () => {
    const { ask } = await busy();
    await ask({}, "first");
    const queued = await ask({ input: "And?" }, "second");
    expect(queued.status).toBe("queued");
    expect(await ask({ input: "And?" }, "second")).toEqual(queued);
    await expect(ask({ input: "Or?" }, "second")).rejects.toMatchObject({ code: "idempotency_key_reused" });
    const behind = ask({ conversation: null, previous_response_id: queued.id });
    await expect(behind).rejects.toMatchObject({ status: 400, code: "response_in_progress" });
  });

  test("what waits can't have instructions of its own, and never has those of another", async () => {
    const { ask, clock, llm } = await busy();
    const [one, other] = await Promise.allSettled([ask({ instructions: "Rhyme." }), ask({ instructions: "Shout." })]);
    expect(one.status).toBe("fulfilled");
    expect(other).toMatchObject({ reason: { status: 400, param: "instructions" } });
    await expect(ask({})).rejects.toMatchObject({ status: 400, param: "instructions" });
    expect((await ask({ instructions: "Rhyme." })).status).toBe("queued");
    await clock.advance(1000);
    await clock.advance(1000);
    await ask({ instructions: "Shout." });
    const systems = llm.calls.map(({ messages }) => messages[0]?.parts);
    expect(systems).toEqual(["Rhyme.", "Rhyme.", "Shout."].map((text) => [{ type: "text", text }]));
  });

  test("a message takes the place of a turn that waits for its caller, under its own instructions", async () => {
    const llm = scriptedModel([oneCall, reply("Fine.")]);
    const { client, host } = responding(llm);
    await host.thread("c").start({ system: "Be brief." });
    await client.responses.create({ ...asked, conversation: "c", tools: [lookUp] });
    const next = await client.responses.create({ ...asked, conversation: "c", instructions: "Rhyme." });
    expect(next).toMatchObject({ status: "completed", output_text: "Fine.", instructions: "Rhyme." });
    expect(llm.calls.at(-1)?.messages[0]?.parts).toEqual([{ type: "text", text: "Rhyme." }]);
  });

  test("a request that brings earlier turns along is refused as a whole", async () => {
    const { ask, host } = await busy();
    await ask({});
    const journal = await host.thread("c").exportJournal();
    const input = [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two" },
      { role: "user", content: "Three" },
    ];
    await expect(ask({ input })).rejects.toMatchObject({ status: 400, code: "busy" });
    expect(await host.thread("c").exportJournal()).toEqual(journal);
  });

  test("a response is cancelled as often as anybody likes, and no other with it", async () => {
    const { ask, client, clock } = await busy();
    const [first, second, third] = [await ask({}), await ask({}), await ask({})];
    const cancel = async ({ id }: OpenAI.Responses.Response) => (await client.responses.cancel(id)).status;
    expect([await cancel(second), await cancel(second)]).toEqual(["cancelled", "cancelled"]);
    expect(await Promise.all([first, first, first].map(cancel))).toEqual(["cancelled", "cancelled", "cancelled"]);
    await clock.advance(1000);
    expect((await client.responses.retrieve(third.id)).status).toBe("completed");
  });

  test("a request that is withdrawn is answered as cancelled, streamed or not", async () => {
    const { ask, server, host } = await busy();
    await ask({});
    const body = { ...asked, conversation: "c" };
    const streaming = streamed(server, "/v1/responses", { ...body, stream: true });
    const waiting = ask({ background: false, metadata: { job: "7" } });
    const thread = host.thread("c");
    await expect.poll(async () => (await thread.asks()).filter(({ status }) => status === "queued").length).toBe(2);
    for (const { askId, status } of await thread.asks()) if (status === "queued") await thread.cancel("no", askId);
    expect(await waiting).toMatchObject({ status: "cancelled", metadata: { job: "7" } });
    expect((await streaming).map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.incomplete",
    ]);
  });
});

describe("items of one conversation in another", () => {
  test("are what was said before: a call that was answered elsewhere is not answered again", async () => {
    const { client, host } = responding(scriptedModel([oneCall, reply("There."), reply("Here.")]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const output = outputOf(waitsFor(first).call, "Ada");
    await client.responses.create({ model: "any", input: [output], previous_response_id: first.id });
    await host.thread("here").start();
    const input = [{ role: "user", content: "Hi" } as const, ...first.output, output] as OpenAI.Responses.ResponseInput;
    const other = await client.responses.create({ model: "any", input, conversation: "here" });
    expect([other.conversation?.id, other.output_text]).toEqual(["here", "Here."]);
  });

  test.each([
    ["continues its turn", {}, 1],
    ["continues its turn if store is true", { store: true }, 1],
    ["is answered outside its thread if store is false", { store: false }, 0],
  ] as const)("a resent history with the awaited tool output %s", async (_, more, closed) => {
    const { client, host } = responding(scriptedModel([oneCall, reply("Ada.")]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const output = outputOf(waitsFor(first).call, "Ada");
    const input = [{ role: "user", content: "Hi" } as const, ...first.output, output] as OpenAI.Responses.ResponseInput;
    const second = await client.responses.create({ model: "any", input, ...more });
    expect(second.output_text).toBe("Ada.");
    const state = await threadOf(host, first).state();
    expect(state?.context.conversation.turns.length).toBe(closed);
  });

  const reference = (id: string) => ({ type: "item_reference", id }) as const;

  test.each<[item: string, code: string | null, (there: string, here: string) => OpenAI.Responses.ResponseInputItem]>([
    ["an item", "item_not_found", (there) => reference(`msg_1_1_0_${there}`)],
    ["an item of a turn that is not there", "item_not_found", (_, here) => reference(`msg_2_1_0_${here}`)],
    ["the output of a call", null, (there) => outputOf(`call_1_1_0_${there}`, "x")],
    ["an approval", null, (there) => approvalOf(`mcpr1_1_1_0_${there}`, true)],
  ])("are not there when they are named: %s, beside a conversation or a previous response", async (_, code, item) => {
    const { client, host } = responding(scriptedModel([reply("There."), reply("Here.")]));
    const [there, here] = [await client.responses.create(asked), await client.responses.create(asked)];
    const input = [item(there.conversation?.id ?? "", here.conversation?.id ?? "")];
    for (const place of [{ conversation: here.conversation?.id ?? "" }, { previous_response_id: here.id }]) {
      const named = client.responses.create({ model: "any", input, ...place });
      await expect(named).rejects.toMatchObject({ status: 400, code, param: "input" });
    }
    expect((await threadOf(host, here).asks()).length).toBe(1);
    expect((await host.threads()).threads).toHaveLength(2);
  });
});

describe("what is left", () => {
  test.each([true, false])("of a request that is refused (store: %s): no thread", async (store) => {
    const { host, client } = responding(scriptedModel([]), { tools: [refund] });
    const memories: Host[] = [];
    const inMemory = host.inMemory.bind(host);
    host.inMemory = () => {
      memories.push(inMemory());
      return memories.at(-1) ?? host;
    };
    const taken = {
      ...asked,
      instructions: "Be brief.",
      tools: [{ ...lookUp, name: refund.declaration.name }],
      store,
    };
    await expect(client.responses.create(taken)).rejects.toMatchObject({ status: 400 });
    for (const each of [host, ...memories]) expect((await each.threads()).threads).toEqual([]);
  });

  test("of a conversation that is deleted: no response either, however lately it was shown", async () => {
    const { client, server } = responding(scriptedModel([reply("My secret.")]));
    const { id, conversation } = await client.responses.create(asked);
    await client.conversations.delete(conversation?.id ?? "");
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(streamed(server, `/v1/responses/${id}?stream=true`)).rejects.toThrow("404");
  });

  test("of responses whose threads were let go: no room that others need, and they are taken up anew", async () => {
    const unfinished = never({ pieces: ["It was a dark and stormy night. "] });
    const llm = scriptedModel([unfinished, unfinished, unfinished, unfinished, reply("It is."), reply("Well?")]);
    const { client, server, host } = responding(llm, {}, { responses: { charactersMax: 8000 } });
    let last = "";
    while (llm.calls.length < 4) {
      const response = await client.responses.create({ ...asked, background: true });
      const shown = await server.fetch(new Request(`http://localhost/v1/responses/${response.id}?stream=true`));
      const read = shown.text().catch(String);
      await threadOf(host, response).close();
      expect(await read).toContain("the stream broke off");
      last = response.id;
    }
    const whole = await streamed(server, `/v1/responses/${last}?stream=true`);
    expect(whole.at(-1)).toMatchObject({ type: "response.completed" });
    const { id } = await client.responses.create(asked);
    const events = await streamed(server, `/v1/responses/${id}?stream=true`);
    expect(await streamed(server, `/v1/responses/${id}?stream=true&starting_after=7`)).toEqual(events.slice(8));
  });
});

test("an answer that is longer than all logs may hold is shown whole to who reads along, and to others when it has ended", async () => {
  const clock = virtualClock();
  const words = Array.from({ length: 300 }, (_, index) => ({ text: `${index} `, delayMs: 1 }));
  const { client, server } = responding(
    scriptedModel([streams(words)]),
    { clock, store: memoryStore({ clock }) },
    { clock, responses: { charactersMax: 30_000 } },
  );
  const { id } = await client.responses.create({ ...asked, background: true });
  const path = `/v1/responses/${id}?stream=true`;
  const along = streamed(server, path);
  for (let passed = 0; passed < 290; passed++) await clock.advance(1);
  await expect(streamed(server, path)).rejects.toThrow("when it has ended");
  await clock.advance(10);
  const text = words.map((word) => word.text).join("");
  const deltas = (await along).flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
  expect(deltas.join("")).toBe(text);
  expect((await along).map(({ sequence_number: number }) => number)).toEqual((await along).map((_, index) => index));
  expect((await streamed(server, path)).at(-1)).toMatchObject({ response: { output: [{ content: [{ text }] }] } });
});

test("a store that fails under way ends what waits for it; whoever runs the server learns why, and clients do not", async () => {
  const clock = virtualClock();
  const working = memoryStore({ clock });
  const breaking = { isBroken: false };
  const store: Store = new Proxy(working, {
    get: (target, name): unknown => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown =>
        name === "append" && breaking.isBroken
          ? Promise.reject(new Error("disk at /secret"))
          : Reflect.apply(member, target, given);
    },
  });
  const reported: unknown[] = [];
  const llm = scriptedModel([1, 2].map(() => streams(["So ", { text: "it is.", delayMs: 1000 }])));
  const onError = (error: unknown): void => void reported.push(error);
  const { client, server } = responding(llm, { clock, store }, { clock, onError });
  const { id } = await client.responses.create({ ...asked, background: true });
  const read = await server.fetch(new Request(`http://localhost/v1/responses/${id}?stream=true`));
  const waiting = client.responses.create(asked).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await expect.poll(() => llm.calls.length).toBe(2);
  breaking.isBroken = true;
  const text = read.text().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await clock.advance(1000);
  expect(await waiting).toMatchObject({ status: 503, message: expect.not.stringContaining("secret") });
  expect(String(await text)).toBe("Error: the stream broke off");
  expect(reported.map(String)).toEqual([1, 2].map(() => expect.stringContaining("disk at /secret")));
});

test("refusals are the client's business: nobody else is told", async () => {
  const reported: unknown[] = [];
  const { client } = responding(scriptedModel([]), {}, { onError: (error) => reported.push(error) });
  await expect(client.responses.create({ model: "any", input: [] })).rejects.toMatchObject({ status: 400 });
  expect(reported).toEqual([]);
});

test.each(["", "x", "1e2", "0x3", " 3", "-2", "1.5", "Infinity"])(
  "starting_after=%j is no number of an event",
  async (after) => {
    const { client, server } = responding(scriptedModel([reply("Hello.")]));
    const { id } = await client.responses.create(asked);
    const path = `/v1/responses/${id}?stream=true&starting_after=${encodeURIComponent(after)}`;
    await expect(streamed(server, path)).rejects.toThrow("must be the number of an event");
  },
);

test("a response and an item of a thread whose id is as long as may be are read by their own", async () => {
  const { client, host } = responding(scriptedModel([reply("Hello.")]));
  const conversation = "t".repeat(128);
  await host.thread(conversation).start();
  const { id, output } = await client.responses.create({ ...asked, conversation });
  expect((await client.responses.retrieve(id)).id).toBe(id);
  const item = await client.conversations.items.retrieve(output[0]?.id ?? "", { conversation_id: conversation });
  expect(item).toMatchObject({ role: "assistant" });
});
