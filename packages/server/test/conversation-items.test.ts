import { createHost, memoryStore } from "@colloquy/runtime-node";
import { scriptedModel } from "@colloquy/runtime-test/models";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { threadServer } from "../src/index.ts";

/** Makes a server with an empty model, and a client of it. */
const served = () => {
  const host = createHost({ llm: scriptedModel([]), store: memoryStore() });
  const server = threadServer(host);
  const client = new OpenAI({
    apiKey: "any",
    baseURL: "http://localhost/v1",
    maxRetries: 0,
    fetch: (url, init) => server.fetch(new Request(url, init)),
  });
  return { host, client };
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
