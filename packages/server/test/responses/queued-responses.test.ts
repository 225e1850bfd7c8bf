import { createHost, memoryStore } from "@colloquy/runtime-node";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { threadServer } from "../../src/index.ts";
import { at, errorOf, post } from "../serving.ts";
import { responding, respondingOf } from "./responding.ts";

const inBackground = { model: "any", input: "Hi", conversation: "c", background: true } as const;

test("a response can't follow one that is queued, nor one that is not there, and a client is told which it is", async () => {
  const { client, host } = responding(scriptedModel([never()]));
  await host.thread("c").start();
  await client.responses.create(inBackground);
  const { id } = await client.responses.create(inBackground);
  const after = (previous: string) =>
    client.responses.create({ model: "any", input: "And?", previous_response_id: previous });
  await expect(after(id)).rejects.toMatchObject({ status: 400, code: "response_in_progress" });
  const none = `resp_${"0".repeat(32)}_c`;
  await expect(after(none)).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  await client.responses.cancel(id);
  await expect(after(id)).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  expect((await host.threads()).threads).toHaveLength(1);
});

test("a queued response of another principal is not there for a client", async () => {
  const host = createHost({ llm: scriptedModel([never()]), store: memoryStore() });
  const server = threadServer(host, {
    authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "eve" }),
    mayUse: ({ id }) => id === "ada",
  });
  await host.thread("c").start();
  const ada = { "x-user": "ada" };
  await server.fetch(post("/v1/responses", inBackground, ada));
  const { id } = (await (await server.fetch(post("/v1/responses", inBackground, ada))).json()) as { id: string };
  const previous = { model: "any", input: "And?", previous_response_id: id };
  const refused = await server.fetch(post("/v1/responses", previous));
  expect(await errorOf(refused)).toMatchObject({ status: 400, code: "previous_response_not_found" });
  for (const request of [at(`/v1/responses/${id}`), post(`/v1/responses/${id}/cancel`, {})])
    expect((await server.fetch(request)).status).toBe(404);
  const own = await server.fetch(at(`/v1/responses/${id}`, { headers: ada }));
  expect(await own.json()).toMatchObject({ status: "queued" });
});

test("a client learns why it can't read a response from the middle: while it runs, and when it has ended", async () => {
  const { client, server, host } = responding(scriptedModel([never({ pieces: ["It "] }), reply("Done.")]));
  const reading = async (on: typeof server, id: string) =>
    (await errorOf(await on.fetch(at(`/v1/responses/${id}?stream=true&starting_after=1`)))).message;
  const { id } = await client.responses.create({ model: "any", input: "Hi", background: true });
  const other = respondingOf(host);
  expect(await reading(other.server, id)).toContain("or read it whole when it has ended");
  await client.responses.cancel(id);
  expect(await reading(respondingOf(host).server, id)).toContain("leave out starting_after to have it whole");
});

test("the input of a response is listed from its newest item, unless a client asks for the oldest", async () => {
  const { client } = responding(scriptedModel([reply("Done.")]));
  const input = ["a", "b", "c"].map((content) => ({ role: "user" as const, content }));
  const { id } = await client.responses.create({ model: "any", input });
  const listed = async (query: { order?: "asc" | "desc"; limit?: number; after?: string }) => {
    const { data, has_more: hasMore } = await client.responses.inputItems.list(id, query);
    const texts = data.map((item) => JSON.stringify(item).match(/"text":"([^"]*)"/u)?.[1]).join("");
    return { texts, hasMore, last: data.at(-1)?.id ?? "" };
  };
  expect(await listed({})).toMatchObject({ texts: "cba", hasMore: false });
  expect(await listed({ order: "asc" })).toMatchObject({ texts: "abc", hasMore: false });
  const two = await listed({ limit: 2 });
  expect(two).toMatchObject({ texts: "cb", hasMore: true });
  expect(await listed({ limit: 2, after: two.last })).toMatchObject({ texts: "a", hasMore: false });
  expect(await listed({ limit: 1, after: two.last })).toMatchObject({ texts: "a", hasMore: false });
  await expect(listed({ after: "msg_9" })).rejects.toThrow('there is no item "msg_9" in this input');
});
