import { OpenAIConversationsSession } from "@openai/agents";
import { createHost, type Host, memoryStore, type Store } from "@colloquy/runtime-node";
import { never, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { tool } from "@colloquy/host";
import OpenAI, { APIError } from "openai";
import { describe, expect, it, test, vi } from "vitest";
import { z } from "zod";
import { threadServer, type ThreadServerOptions } from "../src/index.ts";
import { at } from "./serving.ts";

const lookup = tool({ name: "lookup", description: "Looks up.", input: z.object({}), run: () => "found" });

const hostWith = (...script: Parameters<typeof scriptedModel>[0]): Host =>
  createHost({ llm: scriptedModel(script), store: memoryStore(), tools: [lookup], system: "Be brief." });

const served = (host: Host = hostWith(), options: ThreadServerOptions = {}) => {
  const server = threadServer(host, options);
  const as = (apiKey: string): OpenAI =>
    new OpenAI({
      apiKey,
      baseURL: "http://localhost/v1",
      maxRetries: 0,
      fetch: (url, init) => server.fetch(new Request(url, init)),
    });
  return { server, host, as, client: as("any") };
};

const user = (text: string) => ({ type: "message" as const, role: "user" as const, content: text });
const assistant = (text: string) => ({ type: "message" as const, role: "assistant" as const, content: text });

const all = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
};

/** Returns an item's kind and texts. */
const inShort = (item: { readonly type: string }): string => {
  // Cast: the kinds share these members.
  const { role, content, name, output } = item as Record<string, unknown>;
  const texts = Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "") : [];
  return [item.type === "message" ? role : item.type, ...texts, name, output]
    .filter((word) => typeof word === "string")
    .join(" ");
};

const refusal = (promise: Promise<unknown>): Promise<{ readonly status: unknown; readonly message: string }> =>
  promise.then(
    () => ({ status: 200, message: "" }),
    (error: unknown) =>
      error instanceof APIError ? { status: error.status, message: error.message } : Promise.reject(error),
  );

describe("a conversation, by the client of OpenAI", () => {
  it("is begun, read, changed and deleted", async () => {
    const { client, host } = served();
    const made = await client.conversations.create({
      metadata: { topic: "books" },
      items: [user("Hello"), assistant("Hi.")],
    });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "books" } });
    expect(made.id).toMatch(/^conv_[0-9a-f]{32}$/);
    expect(made.created_at).toBe(Math.floor(made.created_at));
    expect(await client.conversations.retrieve(made.id)).toEqual(made);
    expect((await host.thread(made.id).state())?.context.conversation.system?.parts).toMatchObject([
      { text: "Be brief." },
    ]);
    const changed = await client.conversations.update(made.id, { metadata: { topic: "films" } });
    expect(changed).toEqual({ ...made, metadata: { topic: "films" } });
    expect(await client.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: "conversation.deleted",
      deleted: true,
    });
    for (const gone of [
      client.conversations.retrieve(made.id),
      client.conversations.delete(made.id),
      client.conversations.items.list(made.id),
    ])
      expect((await refusal(gone)).status).toBe(404);
  });

  it("shows what was said and done in it, and goes on from what is added", async () => {
    const { client, host } = served(
      hostWith(toolCalls([{ name: "lookup", arguments: {} }]), reply("It is found."), reply("Yes.")),
    );
    const { id } = await client.conversations.create();
    await host.thread(id).ask("Find it");
    const { data: added } = await client.conversations.items.create(id, {
      items: [
        user("And in Oslo?"),
        { type: "function_call", call_id: "c1", name: "weather", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "rain" },
        assistant("Rain."),
      ],
    });
    expect(added.map(inShort)).toEqual([
      "user And in Oslo?",
      "function_call weather",
      "function_call_output rain",
      "assistant Rain.",
    ]);
    const items = await all(client.conversations.items.list(id, { order: "asc" }));
    expect(items.map(inShort)).toEqual([
      "user Find it",
      "mcp_call lookup found",
      "assistant It is found.",
      ...added.map(inShort),
    ]);
    expect(items.slice(3)).toEqual(added);
    expect(await host.thread(id).ask("Really?")).toMatchObject({ text: "Yes.", turn: 3 });
    for (const item of items)
      expect(await client.conversations.items.retrieve(item.id ?? "", { conversation_id: id })).toEqual(item);
  });

  it("shows the messages that its thread began with", async () => {
    const { client, host } = served(hostWith(reply("Fine.")));
    const thread = host.thread("begun");
    await thread.start({
      seed: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hi." },
      ],
    });
    await thread.ask("How are you?");
    const items = await all(client.conversations.items.list(thread.id, { order: "asc" }));
    expect(items.map(inShort)).toEqual(["user Hello", "assistant Hi.", "user How are you?", "assistant Fine."]);
    for (const item of items)
      expect(await client.conversations.items.retrieve(item.id ?? "", { conversation_id: thread.id })).toEqual(item);
  });

  it.each([
    [{ items: [{ type: "function_call", call_id: "c", name: "f", arguments: "{}" }] }, "items[0]: "],
    [{ items: [user("a"), { type: "function_call_output", call_id: "c", output: "x" }] }, "items[1]: "],
    [{ items: Array(21).fill(user("a")) }, "items: Too big"],
    [{ items: ["a"] }, "items[0]: "],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [String(index), "x"])) }, "at most 16"],
    [{ metadata: { a: 1 } }, "metadata.a: "],
    [{ item: [] }, "item: the body has no such member"],
  ])("is refused in words where it is none: %#", async (body, words) => {
    const { client } = served();
    const { status, message } = await refusal(client.post("/conversations", { body }));
    expect(status).toBe(400);
    expect(message).toContain(words);
    expect(message).not.toContain("repair");
    expect((await refusal(client.get("/conversations"))).status).toBe(200);
  });

  it("takes nothing in while a turn is open, and says so", async () => {
    const { client, host } = served(hostWith(never({ pieces: ["It ", "is"] })));
    const { id } = await client.conversations.create({ items: [user("Hi")] });
    const ask = host.thread(id).ask("Go");
    for await (const part of ask) if (part.type === "text.delta") break;
    const [newest] = (await client.conversations.items.list(id)).data;
    expect(newest === undefined ? "" : inShort(newest)).toBe("user Go");
    const added = await refusal(client.conversations.items.create(id, { items: [user("more")] }));
    expect(added).toMatchObject({ status: 400, message: expect.stringContaining("open") as string });
    const removed = await refusal(client.conversations.items.delete(newest?.id ?? "", { conversation_id: id }));
    expect(removed).toMatchObject({ status: 400, message: expect.stringContaining("nothing was removed") as string });
    ask.abort();
    expect(await ask.catch(String)).toContain("cancelled");
  });
});

describe("the items of a long conversation", () => {
  const long = async () => {
    const { client, host } = served();
    const { id } = await client.conversations.create();
    const thread = host.thread(id);
    for (let turn = 1; turn <= 40; turn++)
      await thread.addTurn([
        { role: "user", content: `question ${turn}` },
        { role: "assistant", content: `answer ${turn}` },
      ]);
    return { client, thread, id };
  };

  it("come page by page, in either order, each once", async () => {
    const { client, id } = await long();
    const [newest] = (await client.conversations.items.list(id)).data;
    expect(newest === undefined ? "" : inShort(newest)).toBe("assistant answer 40");
    const first = await client.conversations.items.list(id);
    expect(first.data).toHaveLength(20);
    expect(first).toMatchObject({ has_more: true, last_id: first.data.at(-1)?.id });
    const every = await all(client.conversations.items.list(id, { limit: 7, order: "asc" }));
    expect(every.map(inShort)).toEqual(
      Array.from(
        { length: 80 },
        (_, index) => `${index % 2 === 0 ? "user question" : "assistant answer"} ${Math.floor(index / 2) + 1}`,
      ),
    );
    const reversed = await all(client.conversations.items.list(id, { limit: 33 }));
    expect(reversed).toEqual(every.toReversed());
    expect(new Set(every.map(({ id: item }) => item)).size).toBe(80);
  });

  it("are those of the path, on which branches are passed over", async () => {
    const { client, thread, id } = await long();
    const before = await all(client.conversations.items.list(id, { order: "asc" }));
    await thread.branch(3);
    await thread.addTurn([{ role: "user", content: "elsewhere" }]);
    await thread.branch(5);
    await thread.addTurn([{ role: "user", content: "here" }]);
    await thread.append({ role: "user", content: "waiting" });
    const items = await all(client.conversations.items.list(id, { order: "asc", limit: 3 }));
    expect(items.map(inShort)).toEqual([...before.slice(0, 10).map(inShort), "user here", "user waiting"]);
    expect(await all(client.conversations.items.list(id, { limit: 5 }))).toEqual(items.toReversed());
    const gone = before[10]?.id ?? "";
    expect((await refusal(client.conversations.items.retrieve(gone, { conversation_id: id }))).status).toBe(404);
    expect((await refusal(client.conversations.items.list(id, { after: gone }))).status).toBe(400);
    expect((await client.conversations.items.retrieve(items.at(-1)?.id ?? "", { conversation_id: id })).type).toBe(
      "message",
    );
  });

  it("are read as far as a page shows them", async () => {
    const store = memoryStore();
    const chunks = new Set<string>();
    const hostOn = (kept: Store): Host => createHost({ llm: scriptedModel([]), store: kept, snapshotEvery: 8 });
    const first = hostOn(store);
    await first.thread("long").start();
    for (let turn = 1; turn <= 1_000; turn++)
      await first.thread("long").addTurn([{ role: "user", content: `${turn}` }]);
    await first.close();
    const counting = new Proxy(store, {
      get: (_, name) => {
        const member: unknown = Reflect.get(store, name);
        if (typeof member !== "function") return member;
        if (name !== "readSnapshot") return member.bind(store) as unknown;
        return async (threadId: string) => {
          const snapshot = await store.readSnapshot(threadId);
          const chunk = (id: string): string | undefined => {
            chunks.add(id);
            return snapshot?.chunk(id);
          };
          return snapshot && { ...snapshot, chunk };
        };
      },
    });
    const { client } = served(hostOn(counting));
    const page = await client.conversations.items.list("long", { limit: 5 });
    expect(page.data.map(inShort)).toEqual(["user 1000", "user 999", "user 998", "user 997", "user 996"]);
    const newest = chunks.size;
    chunks.clear();
    await client.conversations.items.list("long", { limit: 5, order: "asc" });
    // A thousand turns take more than thirty chunks.
    expect(Math.max(newest, chunks.size)).toBeLessThan(8);
    expect(chunks.size).toBeGreaterThan(0);
  });

  it.each(["limit=0", "limit=101", "limit=x", "order=up", "after=nothing", "after=msg_1_0_9_other"])(
    "%s is refused",
    async (query) => {
      const { client, id } = await long();
      expect((await refusal(client.get(`/conversations/${id}/items?${query}`))).status).toBe(400);
    },
  );
});

describe("an item that is taken back", () => {
  it("is the newest; what stood before it in its turn stays", async () => {
    const { client } = served();
    const { id } = await client.conversations.create({
      items: [user("one"), assistant("1"), user("two"), assistant("2")],
    });
    const listed = () => all(client.conversations.items.list(id, { order: "asc" }));
    const [first, , , last] = await listed();
    const older = await refusal(client.conversations.items.delete(first?.id ?? "", { conversation_id: id }));
    expect(older).toMatchObject({ status: 400, message: expect.stringContaining("nothing was removed") as string });
    expect(await client.conversations.items.delete(last?.id ?? "", { conversation_id: id })).toMatchObject({
      id,
      object: "conversation",
    });
    expect((await listed()).map(inShort)).toEqual(["user one", "assistant 1", "user two"]);
    expect((await refusal(client.conversations.items.delete(last?.id ?? "", { conversation_id: id }))).status).toBe(
      404,
    );
    const [, , question] = await listed();
    await client.conversations.items.delete(question?.id ?? "", { conversation_id: id });
    expect((await listed()).map(inShort)).toEqual(["user one", "assistant 1"]);
  });

  it("takes its round with it, and is in the tree", async () => {
    const { client, host } = served();
    const { id } = await client.conversations.create({
      items: [
        user("go"),
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "x" },
      ],
    });
    const [newest] = (await client.conversations.items.list(id)).data;
    await client.conversations.items.delete(newest?.id ?? "", { conversation_id: id });
    expect((await client.conversations.items.list(id)).data.map(inShort)).toEqual(["user go"]);
    await host.thread(id).branch(1);
    expect((await client.conversations.items.list(id)).data).toHaveLength(3);
  });
});

/** Gives each principal its own threads. */
const ofPrincipals: ThreadServerOptions = {
  authenticate: ({ headers }) => ({ id: headers.get("authorization")?.slice(7) ?? "" }),
  threadPrefix: ({ id }) => `${id}-`,
  mayUse: ({ id }, threadId) => threadId.startsWith(`${id}-`),
};

it("two principals see their own conversations and no others, whether there are any or not", async () => {
  const { as } = served(hostWith(), ofPrincipals);
  const [ada, bob] = [as("ada"), as("bob")];
  const mine: string[] = [];
  for (let index = 0; index < 5; index++) {
    mine.push((await ada.conversations.create({ items: [user("secret")] })).id);
    await bob.conversations.create();
  }
  const [one = ""] = mine;
  const [item] = (await ada.conversations.items.list(one)).data;
  const tries = [
    bob.conversations.retrieve(one),
    bob.conversations.update(one, { metadata: {} }),
    bob.conversations.delete(one),
    bob.conversations.items.list(one),
    bob.conversations.items.create(one, { items: [user("mine")] }),
    bob.conversations.items.retrieve(item?.id ?? "", { conversation_id: one }),
    bob.conversations.items.delete(item?.id ?? "", { conversation_id: one }),
  ];
  for (const tried of tries) expect((await refusal(tried)).status).toBe(404);
  const there = await refusal(bob.conversations.retrieve(one));
  expect(there.message.replace(one, "ada-0")).toBe((await refusal(bob.conversations.retrieve("ada-0"))).message);
  const listing = async (query: string) =>
    (await ada.get(`/conversations?${query}`)) as { data: { id: string }[]; has_more: boolean; last_id: string };
  const first = await listing("limit=3");
  expect(first.has_more).toBe(true);
  const rest = await listing(`limit=3&after=${first.last_id}`);
  expect(rest.has_more).toBe(false);
  expect([...first.data, ...rest.data].map(({ id }) => id).toSorted()).toEqual(mine.toSorted());
  expect((await refusal(bob.get(`/conversations?after=${one}`))).status).toBe(400);
});

test("a listing of one conversation reads one page of the store, however many threads others have", async () => {
  const store = memoryStore();
  const host = createHost({ llm: scriptedModel([]), store });
  for (let index = 0; index < 90; index += 1) await host.thread(`bob-${index}`).start();
  await host.thread("ada-0").start();
  for (let index = 90; index < 98; index += 1) await host.thread(`bob-${index}`).start();
  const listing = vi.spyOn(host, "threads");
  const { client } = served(host, { mayUse: (_, threadId) => threadId.startsWith("ada-") });
  expect(await client.get("/conversations?limit=1")).toMatchObject({ data: [{ id: "ada-0" }], has_more: false });
  expect(listing).toHaveBeenCalledTimes(1);
});

test("no id reaches a nested thread, or one whose id no path can have", async () => {
  for (const id of ["ada-1/helper", "ada-1/helper/1.1.0", "ada-1 ", "ada.1", "ä", "a".repeat(129)]) {
    const host = hostWith(toolCalls([{ name: "lookup", arguments: {} }]), reply("A word."), reply("Another."));
    await host.ask("Say it.", { threadId: id });
    const { server } = served(host);
    const asked = async (path: string, body?: object): Promise<number> => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      return (await server.fetch(at(path, body === undefined ? {} : init))).status;
    };
    const encoded = encodeURIComponent(id);
    const message = { type: "message", role: "user", content: "And?" };
    const output = { type: "function_call_output", call_id: `call_1_1_0_${id}`, output: "" };
    const statuses = [
      await asked(`/v1/conversations/${encoded}`),
      await asked(`/v1/conversations/${encoded}/items`),
      await asked(`/v1/conversations?after=${encoded}`),
      await asked(`/v1/responses/resp_1_1_${encoded}`),
      await asked(`/ui/${encoded}/messages`),
      await asked("/ui", { id, messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "And?" }] }] }),
      await asked("/v1/responses", { input: "And?", conversation: id }),
      await asked("/v1/responses", { input: "And?", previous_response_id: `resp_1_1_${id}` }),
      await asked("/v1/responses", { input: [{ type: "item_reference", id: `msg_1_0_0_${id}` }, message] }),
      await asked("/v1/responses", { input: [output] }),
      await asked("/v1/responses", {
        input: [{ type: "mcp_approval_response", approval_request_id: `mcpr1_1_1_0_${id}`, approve: true }],
      }),
    ];
    expect(statuses.filter((status) => status !== 400 && status !== 404)).toEqual([]);
    expect((await host.thread(id).state())?.context.conversation.turns).toHaveLength(1);
  }
});

test("responses of two principals are theirs, forks too", async () => {
  const { as } = served(hostWith(reply("1"), reply("2"), reply("3"), reply("4"), reply("5")), ofPrincipals);
  const [ada, bob] = [as("ada"), as("bob")];
  const first = await ada.responses.create({ input: "one" });
  const on = { previous_response_id: first.id };
  const others = [
    await ada.responses.create({ ...on, input: "two" }),
    await ada.responses.create({ ...on, input: "other" }),
  ];
  for (const { id, output_text: said, conversation } of [first, ...others]) {
    expect(conversation?.id).toMatch(/^ada-/);
    expect((await ada.responses.retrieve(id)).output_text).toBe(said);
    expect((await refusal(bob.responses.retrieve(id))).status).toBe(404);
    expect((await refusal(bob.responses.create({ previous_response_id: id, input: "mine" }))).status).toBe(400);
  }
  // A client's request id is not an ask's id.
  const headers = { "x-request-id": "one" };
  const said: string[] = [];
  for (const input of ["three", "four"])
    said.push((await ada.responses.create({ ...on, input }, { headers })).output_text);
  expect(said).toEqual(["4", "5"]);
});

test("a session of the Agents SDK keeps its items here", async () => {
  const { client } = served();
  // Cast: the client is of another copy of the same package.
  const session = new OpenAIConversationsSession({ client: client as never });
  await session.addItems([{ type: "message", role: "user", content: "Hello" }]);
  await session.addItems([
    { type: "function_call", callId: "c1", name: "f", arguments: "{}", status: "completed" },
    { type: "function_call_result", callId: "c1", name: "f", status: "completed", output: "x" },
    { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Hi." }] },
  ]);
  expect((await session.getItems()).map(({ type }) => type)).toEqual([
    "message",
    "function_call",
    "function_call_result",
    "message",
  ]);
  expect(await session.getItems(1)).toMatchObject([{ role: "assistant", content: [{ text: "Hi." }] }]);
  expect(await session.popItem()).toMatchObject({ role: "assistant" });
  expect(await session.getItems()).toHaveLength(3);
  const id = await session.getSessionId();
  await session.clearSession();
  expect((await refusal(client.conversations.retrieve(id))).status).toBe(404);
});

test("what several clients change at a time is changed by one after the other", async () => {
  const { client } = served();
  const { id } = await client.conversations.create({ items: [user("a"), assistant("b"), user("c")] });
  const items = await all(client.conversations.items.list(id));
  const newest = items[0]?.id ?? "";
  const removed = [1, 2, 3].map(() => refusal(client.conversations.items.delete(newest, { conversation_id: id })));
  const statuses = (await Promise.all(removed)).map(({ status }) => status);
  expect(statuses).toEqual([200, 404, 404]);
  const exchange = (name: string) => [user(`${name}1`), assistant(`${name}2`), user(`${name}3`), assistant(`${name}4`)];
  const added = ["x", "y"].map((name) => client.conversations.items.create(id, { items: exchange(name) }));
  const lists = (await Promise.all(added)).map(({ data }) => data.map(inShort));
  expect(lists).toEqual(["x", "y"].map((name) => exchange(name).map(({ role, content }) => `${role} ${content}`)));
  expect((await all(client.conversations.items.list(id, { order: "asc" }))).map(inShort)).toEqual([
    "user a",
    "assistant b",
    ...lists.flat(),
  ]);
});
