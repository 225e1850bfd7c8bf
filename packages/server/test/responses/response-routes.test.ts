import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { virtualClock } from "@colloquy/runtime-test";
import { createHost, memoryStore, type Observer, tool } from "@colloquy/runtime-node";
import { describe, expect, test, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { threadServer } from "../../src/index.ts";
import { at, errorOf } from "../serving.ts";
import { approvalOf, lookUp, outputOf, responding, respondingOf, streamed, waitsFor, weather } from "./responding.ts";

const asked = { model: "any", input: "Hi" } as const;
const twoCalls = toolCalls([
  { name: "look_up", arguments: { id: "7" } },
  { name: "look_up", arguments: { id: "8" } },
]);

const forced = { type: "function", name: "look_up" } as const;
const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] } as const;

describe("bad requests are refused in words, and nothing is journalled", () => {
  test.each([
    [{ input: "Hi", conversation: "c", previous_response_id: "resp_1_1_t" }, "conversation and previous_response_id"],
    [{ input: "Hi", previous_response_id: "resp_1_1_nowhere" }, 'no response "resp_1_1_nowhere"; name a response'],
    [{ input: "Hi", previous_response_id: "resp_x" }, 'there is no response "resp_x"; name a response'],
    [{ input: "Hi", conversation: "nowhere" }, "there is no conversation"],
    [{ input: "Hi", background: true, store: false }, "background"],
    [{ input: "Hi", tools: [{ type: "web_search" }], tool_choice: "required" }, "skipped"],
    [{ input: "Hi", tools: [{ type: "web_search" }], tool_choice: { type: "web_search" } }, "web_search"],
    [{ input: "Hi", tools: [{ type: "custom", name: "edit" }], tool_choice: { type: "custom", name: "edit" } }, "edit"],
    [{ input: "Hi", tools: [{ type: "namespace", name: "n", tools: [lookUp] }], tool_choice: forced }, "look_up"],
    [{ input: "Hi", tools: [{ type: "web_search" }], tool_choice: allowed }, "all tools that it allows"],
    [{ input: "Hi", tools: [{ ...lookUp, name: "look up" }] }, "tools[0].name"],
    [{ input: "Hi", tools: ["look_up"] }, "tools[0]"],
    [{ messages: [{ role: "user", content: "Hi" }] }, "chat completions"],
    [{ input: [{ type: "ghost_snapshot" }] }, "ghost_snapshot"],
    [{ input: "Hi", prompt: { id: "p" } }, "prompt"],
    [{ input: "Hi", model: "other" }, "there are: any"],
    [{ input: [{ type: "function_call_output", call_id: "call_9", output: "x" }] }, "call_9"],
    [{ input: [{ type: "function_call_output", call_id: "call_1_1_0_nowhere", output: "x" }] }, '_nowhere" is not'],
    [{ input: [{ type: "item_reference", id: "msg_9" }] }, 'no item "msg_9"; send the item itself'],
    [{ input: [{ type: "item_reference", id: "msg_1_1_0_no" }] }, '"msg_1_1_0_no" is not there; send the item itself'],
    [{ input: [{ type: "message", role: "robot", content: "x" }] }, "input[0]"],
    [{ input: 7 }, "input"],
  ])("%j", async (body, words) => {
    const { client, host } = responding(scriptedModel([]), {}, { responses: { models: ["any"] } });
    const error = await client.post("/responses", { body }).then(String, (thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: expect.toSatisfy((status) => status === 400 || status === 404) });
    expect(String(error)).toContain(words);
    expect((await host.threads()).threads).toEqual([]);
  });

  test("outputs of some calls only, which names those that are missing", async () => {
    const { client, host } = responding(scriptedModel([twoCalls]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const [one, other] = first.output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
    const before = (await host.threads()).threads;
    const some = { model: "any", input: [outputOf(one ?? "", "Ada")], previous_response_id: first.id };
    await expect(client.responses.create(some)).rejects.toThrow(other ?? "a second call");
    expect((await host.threads()).threads).toEqual(before);
  });

  test("outputs that are otherwise than those that were taken", async () => {
    const { client } = responding(scriptedModel([toolCalls([{ name: "look_up", arguments: {} }]), reply("Ada.")]));
    const first = await client.responses.create({ ...asked, tools: [lookUp] });
    const given = (output: string) =>
      client.responses.create({
        model: "any",
        input: [outputOf(waitsFor(first).call, output)],
        previous_response_id: first.id,
      });
    expect((await given("Ada")).output_text).toBe("Ada.");
    await expect(given("Grace")).rejects.toMatchObject({ status: 400 });
  });
});

test("what a response was asked with is read page by page", async () => {
  const { client, server } = responding(scriptedModel([reply("Hello.")]));
  const input = ["One", "Two", "Three"].map((content) => ({ role: "user" as const, content }));
  const { id } = await client.responses.create({ model: "any", input });
  const texts: string[] = [];
  for await (const item of client.responses.inputItems.list(id, { limit: 1, order: "asc" }))
    texts.push(JSON.stringify(item));
  expect(texts.map((text) => /One|Two|Three/u.exec(text)?.[0])).toEqual(["One", "Two", "Three"]);
  for (const limit of [2, 3])
    expect((await client.responses.inputItems.list(id, { limit })).has_more).toBe(limit === 2);
  const refused = async (query: string): Promise<object> =>
    errorOf(await server.fetch(at(`/v1/responses/${id}/${query}`)));
  expect(await refused("input_items?after=nothing")).toMatchObject({ status: 400, param: "after" });
  expect(await refused("input_items?limit=0")).toMatchObject({ status: 400, param: "limit" });
});

test("a thread that a principal may not use is not there for it", async () => {
  const host = createHost({ llm: scriptedModel([reply("Mine.")]), store: memoryStore() });
  const server = threadServer(host, {
    authenticate: (request) => ({ id: request.headers.get("x-user") ?? "nobody" }),
    mayUse: ({ id }) => id === "ada",
  });
  const fetchAs = (user: string, path: string, body?: object): Promise<Response> =>
    server.fetch(
      new Request(`http://localhost${path}`, {
        headers: { "x-user": user, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      }),
    );
  const { id } = (await (await fetchAs("ada", "/v1/responses", asked)).json()) as { id: string };
  expect((await fetchAs("ada", `/v1/responses/${id}`)).status).toBe(200);
  for (const path of [`/v1/responses/${id}`, `/v1/responses/${id}?stream=true`, `/v1/responses/${id}/input_items`])
    expect((await fetchAs("eve", path)).status).toBe(404);
  expect((await fetchAs("eve", "/v1/responses", { ...asked, previous_response_id: id })).status).toBe(400);
});

test("a response that is cancelled ends as such, with what was shown of it", async () => {
  const { client, server } = responding(scriptedModel([never({ pieces: ["It was a dark "] })]));
  const begun = await client.responses.create({ ...asked, background: true });
  const stream = streamed(server, `/v1/responses/${begun.id}?stream=true`);
  const cancelled = await client.responses.cancel(begun.id);
  expect(cancelled.status).toBe("cancelled");
  expect(await client.responses.retrieve(begun.id)).toMatchObject(cancelled);
  expect((await stream).at(-1)).toMatchObject({ type: "response.incomplete", response: { status: "cancelled" } });
  // A second cancel changes nothing.
  expect(await client.responses.cancel(begun.id)).toEqual(cancelled);
});

test("a response that is cancelled while a tool of the host runs and a call of the caller waits is cancelled", async () => {
  const running = Promise.withResolvers<void>();
  const slow = tool({
    name: "slow",
    description: "Never ends.",
    input: z.object({}),
    run: () => (running.resolve(), new Promise<string>(() => {})),
  });
  const calls = toolCalls([
    { name: "slow", arguments: {} },
    { name: "look_up", arguments: { id: "7" } },
  ]);
  const { client, host } = responding(scriptedModel([calls]), { tools: [slow] });
  const begun = await client.responses.create({ ...asked, tools: [lookUp], background: true });
  await running.promise;
  const cancelled = await client.responses.cancel(begun.id);
  expect(cancelled.status).toBe("cancelled");
  expect(await client.responses.retrieve(begun.id)).toMatchObject(cancelled);
  // Another server reads it from the journal.
  expect(await respondingOf(host).client.responses.retrieve(begun.id)).toMatchObject(cancelled);
});

test("a conversation that is busy queues the next request, and answers both", async () => {
  const clock = virtualClock();
  const llm = scriptedModel([reply("one", { delayMs: 1000 }), reply("two")]);
  const { client, host } = responding(llm, { clock, store: memoryStore({ clock }) }, { clock });
  await host.thread("c").start();
  const both = [
    client.responses.create({ ...asked, conversation: "c" }),
    client.responses.create({ ...asked, conversation: "c" }),
  ];
  await clock.advance(1000);
  expect((await Promise.all(both)).map(({ output_text: text }) => text)).toEqual(["one", "two"]);
});

test("a background response of a busy conversation is queued under an id that names it from then on, and may be withdrawn", async () => {
  const clock = virtualClock();
  const llm = scriptedModel([reply("one", { delayMs: 1000 }), reply("two", { delayMs: 1000 })]);
  const { client, host, server } = responding(llm, { clock, store: memoryStore({ clock }) }, { clock });
  await host.thread("c").start();
  const inBackground = { ...asked, conversation: "c", background: true, metadata: { job: "7" } } as const;
  const first = await client.responses.create(inBackground);
  const second = await client.responses.create(inBackground);
  const third = await client.responses.create(inBackground);
  expect([first.status, second.status, third.status]).toEqual(["in_progress", "queued", "queued"]);
  expect(await client.responses.retrieve(second.id)).toMatchObject({ status: "queued", metadata: { job: "7" } });
  expect((await client.responses.cancel(third.id)).status).toBe("cancelled");
  const streaming = streamed(server, `/v1/responses/${second.id}?stream=true`);
  await clock.advance(1000);
  await clock.advance(1000);
  expect((await streaming).at(-1)).toMatchObject({ type: "response.completed" });
  const read = await client.responses.retrieve(second.id);
  expect([read.status, read.output_text]).toEqual(["completed", "two"]);
  expect(read.id).toMatch(/^resp_2_1_c$/u);
  expect((await client.responses.retrieve(third.id)).status).toBe("cancelled");
  llm.assertComplete();
});

test("a queued response that was withdrawn may be withdrawn again, and one that never was is not there", async () => {
  const { client, host, server } = responding(scriptedModel([never()]));
  await host.thread("c").start();
  const inBackground = { ...asked, conversation: "c", background: true } as const;
  const first = await client.responses.create(inBackground);
  const { id } = await client.responses.create(inBackground);
  for (const [method, path] of [
    ["DELETE", id],
    ["GET", `${id}/input_items`],
  ] as const) {
    const refused = await server.fetch(new Request(`http://localhost/v1/responses/${path}`, { method }));
    expect(await refused.json()).toMatchObject({ error: { code: "response_queued" } });
  }
  const withdrawn = await client.responses.cancel(id);
  expect(withdrawn.status).toBe("cancelled");
  expect(await client.responses.cancel(id)).toEqual(withdrawn);
  const unknown = `resp_${"0".repeat(32)}_c`;
  await expect(client.responses.retrieve(unknown)).rejects.toMatchObject({ status: 404 });
  await expect(client.responses.cancel(unknown)).rejects.toMatchObject({ status: 404 });
  await client.responses.cancel(first.id);
});

test("a client learns that its response could not be cancelled, since the store failed", async () => {
  const store = memoryStore();
  const { client } = responding(scriptedModel([never(), never()]), { store });
  const { id } = await client.responses.create({ ...asked, background: true });
  const append = vi.spyOn(store, "append").mockRejectedValue(new Error("the disk is full"));
  await expect(client.responses.cancel(id)).rejects.toMatchObject({ status: expect.toSatisfy((code) => code >= 500) });
  append.mockRestore();
});

test("the same request under a key is asked once, at once or later, and another one is refused", async () => {
  const llm = scriptedModel([reply("Once.")]);
  const { client } = responding(llm);
  const options = { headers: { "idempotency-key": "k" } };
  const sent = [1, 2, 3].map(() => client.responses.create(asked, options));
  const [one, ...others] = await Promise.all(sent);
  expect(others).toEqual([one, one]);
  expect(await client.responses.create(asked, options)).toEqual(one);
  await expect(client.responses.create({ ...asked, input: "Other" }, options)).rejects.toMatchObject({
    code: "idempotency_key_reused",
  });
  llm.assertComplete();
});

test("what a client wanted deleted is in no journal any more", async () => {
  const { client, host, server } = responding(scriptedModel([reply("The code is swordfish.")]));
  const response = await client.responses.create({ model: "any", input: "My secret is marzipan" });
  const deleted = await server.fetch(new Request(`http://localhost/v1/responses/${response.id}`, { method: "DELETE" }));
  expect(await deleted.json()).toEqual({ id: response.id, object: "response", deleted: true });
  const journal = JSON.stringify(await host.thread(response.conversation?.id).exportJournal());
  expect(journal).not.toContain("marzipan");
  expect(journal).not.toContain("swordfish");
  expect((await client.responses.retrieve(response.id)).output_text).not.toContain("swordfish");
});

test("instructions are those of one response, and the thread's own come back", async () => {
  const model = scriptedModel([reply("a"), reply("b"), reply("c")]);
  const { client } = responding(model, { system: "You are brief." });
  const first = await client.responses.create(asked);
  const second = await client.responses.create({ ...asked, instructions: "Rhyme.", previous_response_id: first.id });
  expect(second.instructions).toBe("Rhyme.");
  await client.responses.create({ ...asked, previous_response_id: second.id });
  const systems = model.calls.map(({ messages }) => JSON.stringify(messages[0]?.parts));
  expect(systems.map((system) => /brief|Rhyme/u.exec(system)?.[0])).toEqual(["brief", "Rhyme", "brief"]);
});

describe("an event log", () => {
  const serve = (keepMs: number, charactersMax = 100_000) => {
    const clock = virtualClock();
    const llm = scriptedModel([streams(["Hello ", "there, ", "friend."]), reply("More.")]);
    return {
      clock,
      ...responding(llm, { clock, store: memoryStore({ clock }) }, { clock, responses: { keepMs, charactersMax } }),
    };
  };

  test("is read from any event on while it is kept, and never outlives its bound: then the whole is made from the journal", async () => {
    const { client, server, clock } = serve(5000);
    const { id } = await client.responses.create(asked);
    const whole = await streamed(server, `/v1/responses/${id}?stream=true`);
    expect(await streamed(server, `/v1/responses/${id}?stream=true&starting_after=4`)).toEqual(whole.slice(5));
    await clock.advance(4999);
    expect(await streamed(server, `/v1/responses/${id}?stream=true`)).toEqual(whole);
    await clock.advance(1);
    await expect(streamed(server, `/v1/responses/${id}?stream=true&starting_after=4`)).rejects.toThrow("not kept");
    expect((await streamed(server, `/v1/responses/${id}?stream=true`)).at(-1)).toEqual(whole.at(-1));
  });

  test("that grows beyond its room makes way, and the response is answered all the same", async () => {
    const { client, server } = serve(5000, 1000);
    const response = await client.responses.create(asked);
    expect(response.output_text).toBe("Hello there, friend.");
    await expect(streamed(server, `/v1/responses/${response.id}?stream=true&starting_after=1`)).rejects.toThrow(
      "not kept",
    );
  });
});

test("the events of a response are kept on the system clock for longer than a timer counts", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { server } = responding(scriptedModel([reply("Hello.")]), {}, { responses: { keepMs: 2 ** 40 } });
  const [begun, ...events] = await streamed(server, "/v1/responses", { ...asked, stream: true });
  const id = begun !== undefined && "response" in begun ? begun.response.id : "";
  await vi.advanceTimersByTimeAsync(20);
  expect(await streamed(server, `/v1/responses/${id}?stream=true&starting_after=0`)).toEqual(events);
});

test.each([true, false])(
  "a client goes: a response that is stored (%s) goes on, any other is cancelled",
  async (store) => {
    const clock = virtualClock();
    const ends: string[] = [];
    const observer: Observer = { entry: ({ event: { type } }) => ends.push(type) };
    const llm = scriptedModel([reply("At last.", { delayMs: 1000 })]);
    const { client } = responding(llm, { clock, store: memoryStore({ clock }), observers: [observer] }, { clock });
    const leaving = new AbortController();
    const stream = await client.responses.create({ ...asked, store, stream: true }, { signal: leaving.signal });
    await stream[Symbol.asyncIterator]().next();
    leaving.abort();
    await clock.advance(1000);
    expect(ends.at(-1)).toBe(store ? "llm.completed" : "cancel.requested");
  },
);

test("another server on the same host takes up what it did not show, and finds the same", async () => {
  const clock = virtualClock();
  const { client, host } = responding(scriptedModel([reply("Slowly.", { delayMs: 1000 })]), {
    clock,
    store: memoryStore({ clock }),
  });
  const begun = await client.responses.create({ ...asked, background: true });
  const other = respondingOf(host, { clock });
  const seen = streamed(other.server, `/v1/responses/${begun.id}?stream=true`);
  await clock.advance(1000);
  expect((await seen).at(-1)).toMatchObject({ type: "response.completed", response: { id: begun.id } });
  expect((await other.client.responses.retrieve(begun.id)).output_text).toBe("Slowly.");
});

test("another server on the same host shows the response after an approval while the tool runs", async () => {
  const found = Promise.withResolvers<string>();
  const slow = tool({
    name: "slow",
    description: "Takes its time.",
    approval: "always",
    input: z.object({}),
    run: () => found.promise,
  });
  const llm = scriptedModel([toolCalls([{ name: "slow", arguments: {} }]), reply("Done.")]);
  const { client, host } = responding(llm, { tools: [slow] });
  const first = await client.responses.create(asked);
  const input = [approvalOf(waitsFor(first).approval, true)];
  const other = respondingOf(host);
  const next = await other.client.responses.create({ input, previous_response_id: first.id, background: true });
  expect(await client.responses.retrieve(next.id)).toMatchObject({ status: "in_progress", output: [] });
  found.resolve("It is there.");
  await expect.poll(async () => (await client.responses.retrieve(next.id)).output_text).toBe("Done.");
});

test("a response has the times of the journal when it is asked for, waits and ends, whatever the server's clock shows", async () => {
  const [clock, fast] = [virtualClock(5000), virtualClock(9_000_000)];
  const llm = scriptedModel([toolCalls([{ name: "look_up", arguments: {} }]), reply("Ada.")]);
  const { client } = responding(llm, { clock, store: memoryStore({ clock }) }, { clock: fast });
  const first = await client.responses.create({ ...asked, tools: [lookUp] });
  const input = [outputOf(waitsFor(first).call, "Ada")];
  const second = await client.responses.create({ model: "any", input, previous_response_id: first.id });
  expect([first.created_at, first.completed_at, second.completed_at]).toEqual([5, 5, 5]);
});

test("a response of a turn that failed counts the usage of its earlier calls", async () => {
  const call = toolCalls([{ name: "weather", arguments: { city: "Oslo" } }], {
    usage: { inputTokens: 3, outputTokens: 2 },
  });
  const llm = scriptedModel([call, fails({ kind: "auth", message: "no" })]);
  const { client } = responding(llm, { tools: [weather] });
  const response = await client.responses.create({ model: "any", input: "Is it raining?" });
  expect(response).toMatchObject({ status: "failed", usage: { input_tokens: 3, output_tokens: 2 } });
});
