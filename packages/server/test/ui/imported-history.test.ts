import { textOf } from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, onTestFinished, test, vi } from "vitest";
import { post } from "../serving.ts";
import { pageErrorOf, painted, textsOf, watchedServer } from "./page.ts";

const said = (id: string, role: string, text: string) => ({ id, role, parts: [{ type: "text", text }] });
const messages = [said("u1", "user", "One"), said("a1", "assistant", "Two"), said("u2", "user", "Three")];
const request = () => post("/ui", { id: "t", messages });

const served = () => {
  const llm = scriptedModel([reply("Four")]);
  const host = createHost({ llm, store: memoryStore(), system: "Be brief." });
  onTestFinished(() => host.close());
  const importMessages = host.importMessages.bind(host);
  const prompt = (): readonly string[] | undefined => llm.calls.at(-1)?.messages.map(textOf);
  return { host, prompt, importMessages, importing: vi.spyOn(host, "importMessages"), ...watchedServer({ host }) };
};

test("a page with earlier messages starts a thread that has them, under the system prompt of the host", async () => {
  const { server, prompt } = served();
  expect(await (await server.fetch(request())).text()).toContain('"delta":"Four"');
  expect(prompt()).toEqual(["Be brief.", "One", "Two", "Three"]);
  expect(textsOf(await painted(server))).toEqual(["One", "Two", "Three", "Four"]);
});

test("a page is answered after its earlier messages if another server imports the same ones first", async () => {
  const { server, prompt, importing, importMessages, reported } = served();
  importing.mockImplementationOnce(async (...given) => {
    await importMessages(...given);
    return importMessages(...given);
  });
  expect(await (await server.fetch(request())).text()).toContain('"delta":"Four"');
  expect(prompt()).toEqual(["Be brief.", "One", "Two", "Three"]);
  expect(reported).toEqual([]);
});

test("a page learns that its earlier messages can't be stored, and its last one is not asked without them", async () => {
  const { host, server, prompt, importing, reported } = served();
  importing.mockRejectedValueOnce(new Error("the disk is full"));
  const { status } = await pageErrorOf(await server.fetch(request()));
  expect([status, prompt(), (await host.threads()).threads]).toEqual([500, undefined, []]);
  expect(reported).toEqual([expect.stringContaining("the disk is full")]);
});

test("a page that shows an answer of a thread which is gone is refused, and makes none", async () => {
  const { host, server } = served();
  const gone = messages.map((message) => (message.id === "a1" ? { ...message, id: "turn-1" } : message));
  const refused = await pageErrorOf(await server.fetch(post("/ui", { id: "t", messages: gone })));
  expect(refused).toMatchObject({ status: 400, kind: "changed" });
  expect((await host.threads()).threads).toEqual([]);
});

test("a page's question that got no answer is asked together with its last one, in a new thread", async () => {
  const { server, prompt } = served();
  const unanswered = [said("s1", "system", "Shout."), said("u1", "user", "One"), said("u2", "user", "Two")];
  await (await server.fetch(post("/ui", { id: "t", messages: unanswered }))).text();
  expect(prompt()).toEqual(["Be brief.", "One", "Two"]);
});
