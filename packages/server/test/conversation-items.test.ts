import { createHost, type Host, memoryStore } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { scriptedModel } from "@colloquy/runtime-test/models";
import OpenAI from "openai";
import type { HostedThread } from "@colloquy/host";
import { expect, test, vi } from "vitest";
import { threadServer } from "../src/index.ts";

/** Makes a server with an empty model, and a client of it. */
const served = () => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  return { host, ...clientOf(host) };
};

const clientOf = (host: Host) => {
  const server = threadServer(host);
  const client = new OpenAI({
    apiKey: "any",
    baseURL: "http://localhost/v1",
    maxRetries: 0,
    fetch: (url, init) => server.fetch(new Request(url, init)),
  });
  return { client };
};

const said = (role: "system" | "developer" | "user" | "assistant", content: string) =>
  ({ type: "message", role, content }) as const;

test.each(["system", "developer"] as const)("a %s message that is added stays in its place", async (role) => {
  const { host, client } = served();
  const { id } = await client.conversations.create({ items: [said("user", "Hi"), said("assistant", "Hello.")] });
  const items = [said(role, "Be brief."), said("user", "And?"), said("assistant", "Yes.")];
  const added = await client.conversations.items.create(id, { items });
  const inShort = (listed: readonly object[]) => listed.map((item) => ("role" in item ? item.role : null));
  expect(inShort(added.data)).toEqual([role, "user", "assistant"]);
  expect(added.data[0]).toMatchObject({ content: [{ text: "Be brief." }] });
  const all = await client.conversations.items.list(id, { order: "asc" });
  expect(inShort(all.data)).toEqual(["user", "assistant", role, "user", "assistant"]);
  expect(await client.conversations.items.create(id, { items: [said(role, "Briefer.")] })).toMatchObject({
    data: [{ role, content: [{ text: "Briefer." }] }],
  });
  await host.close();
});

test("a client that adds items gets these and no message that waited for a turn before", async () => {
  const { host, client } = served();
  const thread = host.thread("t");
  await thread.start({ seed: [{ role: "user", content: "Hello" }] });
  await thread.append({ role: "user", content: "By the way." });
  const added = await client.conversations.items.create("t", {
    items: [said("user", "Hi"), said("assistant", "Hello.")],
  });
  expect(added.data).toMatchObject([{ content: [{ text: "Hi" }] }, { content: [{ text: "Hello." }] }]);
  const all = await client.conversations.items.list("t", { order: "asc" });
  expect(all.data).toHaveLength(4);
  expect(all.data.slice(2)).toEqual(added.data);
  await host.close();
});

test("an item with which the conversation began can't be removed, and the client learns why", async () => {
  const { host, client } = served();
  await host.thread("t").start({ seed: [{ role: "user", content: "Hello" }] });
  const [item] = (await client.conversations.items.list("t")).data;
  await expect(client.conversations.items.delete(item?.id ?? "", { conversation_id: "t" })).rejects.toThrow(
    "the conversation began with this item; nothing was removed",
  );
  expect((await client.conversations.items.list("t")).data).toEqual([item]);
  await host.close();
});

const members = (count: number, key = 1, text = 1): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [String.fromCodePoint(97 + index).repeat(key), "x".repeat(text)]),
  );

test.each<readonly [string, object, number]>([
  ["16 members of metadata, with keys of 64 and texts of 512 characters", { metadata: members(16, 64, 512) }, 200],
  ["17 members of metadata", { metadata: members(17) }, 400],
  ["a key of 65 characters", { metadata: members(1, 65) }, 400],
  ["a text of 513 characters", { metadata: members(1, 1, 513) }, 400],
  ["20 items", { items: Array.from({ length: 20 }, () => said("user", "Hi")) }, 200],
  ["21 items", { items: Array.from({ length: 21 }, () => said("user", "Hi")) }, 400],
  ["no metadata and no items", { metadata: null, items: null }, 200],
])("a conversation with %s is answered by its status", async (_, body, status) => {
  const { host, client } = served();
  const made = await client.conversations.create(body).then(
    () => 200,
    (error: unknown) => (error instanceof OpenAI.APIError ? error.status : error),
  );
  expect(made).toBe(status);
  await host.close();
});

test("a list has as many items as a client asks for, from 1 to 100, and 20 if it does not say", async () => {
  const { host, client } = served();
  const seed = Array.from({ length: 101 }, (_, index) => ({ role: "user" as const, content: `${index}` }));
  await host.thread("t").start({ seed });
  const counted = async (query: { readonly limit?: number }) => {
    const { data, has_more: hasMore } = await client.conversations.items.list("t", query);
    return [data.length, hasMore];
  };
  expect(await counted({ limit: 1 })).toEqual([1, true]);
  expect(await counted({})).toEqual([20, true]);
  expect(await counted({ limit: 100 })).toEqual([100, true]);
  await expect(counted({ limit: 0 })).rejects.toThrow("limit");
  await expect(counted({ limit: 101 })).rejects.toThrow("limit");
  await host.thread("short").start({ seed: seed.slice(0, 20) });
  expect((await client.conversations.items.list("short")).has_more).toBe(false);
  await host.close();
});

test("conversations are listed from the newest, or from the oldest if a client asks for that, with their times in seconds", async () => {
  const clock = virtualClock(1_500);
  const host = createHost({ llm: scriptedModel([]), store: memoryStore({ clock }), clock });
  const { client } = clientOf(host);
  for (const id of ["a", "b", "c"]) {
    await host.thread(id).start();
    await clock.advance(1_499);
  }
  const listed = async (query: string) => {
    // Cast: the server promises these members.
    const { data } = (await client.get(`/conversations${query}`)) as { data: { id: string; created_at: number }[] };
    return data.map(({ id, created_at: at }) => `${id} ${at}`);
  };
  const all = ["a 1", "b 2", "c 4"];
  expect(await listed("?order=asc")).toEqual(all);
  expect(await listed("?order=desc")).toEqual(all.toReversed());
  expect(await listed("")).toEqual(all.toReversed());
  expect(await listed("?order=asc&after=a&limit=1")).toEqual(["b 2"]);
  await host.close();
});

test("an item is not removed when another caller adds a turn at the same time, which stays", async () => {
  const { host, client } = served();
  const { id } = await client.conversations.create({ items: [said("user", "Hi"), said("assistant", "Hello.")] });
  const thread = host.thread(id);
  // Cast: all threads of a host have one prototype.
  const threads = Object.getPrototypeOf(thread) as Pick<HostedThread, "undo">;
  const { undo } = threads;
  vi.spyOn(threads, "undo").mockImplementationOnce(async function (this: HostedThread, ...given) {
    await thread.addTurn([{ role: "user", content: "Me too" }]);
    return undo.apply(this, given);
  });
  const [newest] = (await client.conversations.items.list(id)).data;
  await expect(client.conversations.items.delete(newest?.id ?? "", { conversation_id: id })).rejects.toThrow(
    "the conversation went on meanwhile; nothing was removed",
  );
  vi.restoreAllMocks();
  const { data } = await client.conversations.items.list(id, { order: "asc" });
  expect(data.map((item) => ("content" in item ? item.content : null))).toMatchObject([
    [{ text: "Hi" }],
    [{ text: "Hello." }],
    [{ text: "Me too" }],
  ]);
  await host.close();
});

test("a client that adds items while a turn ends gets nothing of that turn", async () => {
  const host = createHost({ llm: () => new Promise<never>(() => {}), store: memoryStore() });
  const { client } = clientOf(host);
  const thread = host.thread("t");
  const asked = thread.ask("And?").catch(() => {});
  await expect.poll(() => thread.look(({ context }) => context.open?.number ?? null)).toBe(1);
  // Cast: all threads of a host have one prototype.
  const threads = Object.getPrototypeOf(thread) as Pick<HostedThread, "addTurn">;
  const { addTurn } = threads;
  vi.spyOn(threads, "addTurn").mockImplementationOnce(async function (this: HostedThread, ...given) {
    await thread.cancel("enough");
    return addTurn.apply(this, given);
  });
  const items = [said("user", "Hi"), said("assistant", "Hello.")];
  const added = await client.conversations.items.create("t", { items });
  vi.restoreAllMocks();
  expect(added.data).toMatchObject([{ content: [{ text: "Hi" }] }, { content: [{ text: "Hello." }] }]);
  await asked;
  await host.close();
});

test("a conversation is begun under a system message among its items, and loses its metadata if a client sends none", async () => {
  const { host, client } = served();
  const items = [said("system", "Shout."), said("user", "Hi")];
  const { id } = await client.conversations.create({ items, metadata: { topic: "books" } });
  const system = await host.thread(id).look((state) => state.context.conversation.system?.parts);
  expect(system).toMatchObject([{ text: "Shout." }]);
  expect(await client.post(`/conversations/${id}`, { body: {} })).toMatchObject({ id, metadata: {} });
  await host.close();
});

test("nothing is added to a conversation that is not there, or by a client that adds no items", async () => {
  const { host, client } = served();
  const items = [said("user", "Hi")];
  await expect(client.conversations.items.create("none", { items })).rejects.toMatchObject({ status: 404 });
  const { id } = await client.conversations.create({ items });
  expect((await client.conversations.items.create(id, { items: [] })).data).toEqual([]);
  expect((await client.conversations.items.list(id)).data).toHaveLength(1);
  for (const item of [`msg_1_0_9_${id}`, `msg_9_0_0_${id}`, "msg_9"])
    await expect(client.conversations.items.retrieve(item, { conversation_id: id })).rejects.toMatchObject({
      status: 404,
    });
  await host.close();
});
