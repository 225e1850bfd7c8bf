import { textOf } from "@colloquy/machine";
import { fails, reply, type ScriptLine, scriptedModel } from "@colloquy/runtime-test/models";
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { post } from "../serving.ts";
import { Chat, pageErrorOf, painted, stage, textsOf, watchedServer } from "./page.ts";

const served = (...script: readonly ScriptLine[]) => {
  const model = scriptedModel(script);
  const { host } = stage(model);
  const { server, reported } = watchedServer({ host });
  const prompt = (): readonly string[] => model.calls.at(-1)?.messages.map(textOf) ?? [];
  const load = (query = ""): Promise<UIMessage[]> => painted(server, query);
  return { host, server, reported, prompt, load };
};

const answers = (count: number): readonly ScriptLine[] =>
  Array.from({ length: count }, (_, index) => reply(`answer ${index + 1}`));

const said = (id: string, role: "user" | "assistant", text: string): UIMessage => ({
  id,
  role,
  parts: [{ type: "text", text }],
});

test("a message that is edited and edited back has the thread on its own branch again", async () => {
  const { server, prompt, load } = served(...answers(4));
  const chat = new Chat({ server });
  await chat.sendMessage({ text: "hello" });
  const messageId = chat.messages[0]?.id ?? "";
  await chat.sendMessage({ text: "bye", messageId });
  await chat.sendMessage({ text: "hello", messageId });
  expect(textsOf(await load())).toEqual(textsOf(chat.messages));
  await chat.sendMessage({ text: "And now?" });
  expect(prompt()).toEqual(["hello", "answer 3", "And now?"]);
});

test("a page's only message that is sent again after its answer was made anew is in the thread once", async () => {
  const { server, prompt, load } = served(...answers(3));
  const messages = [said("u1", "user", "hello")];
  const ask = { id: "t", messages, trigger: "submit-message" };
  for (const body of [ask, { ...ask, trigger: "regenerate-message", messageId: "turn-1" }, ask])
    await (await server.fetch(post("/ui", body))).text();
  expect(prompt()).toEqual(["hello"]);
  expect(textsOf(await load())).toEqual(["hello", "answer 3"]);
});

test("a page request that arrives twice makes one ask, even after later turns", async () => {
  const { server, prompt, load } = served(...answers(4));
  const one = said("u1", "user", "one");
  const texts: string[] = [];
  const send = async (body: object) => {
    for (let times = 0; times < 2; times++)
      texts.push(await (await server.fetch(post("/ui", { id: "t", trigger: "submit-message", ...body }))).text());
  };
  await send({ messages: [one] });
  await send({ messages: [one], trigger: "regenerate-message", messageId: "turn-1" });
  await send({ messages: [said("u1", "user", "once")], messageId: "u1" });
  await send({ messages: [...(await load()), said("u2", "user", "two")] });
  expect(prompt()).toEqual(["once", "answer 3", "two"]);
  await send({ messages: [said("u1", "user", "once")] });
  expect(texts.map((text) => /answer \d/u.exec(text)?.[0])).toEqual(
    [1, 1, 2, 2, 3, 3, 4, 4, 3, 3].map((number) => `answer ${number}`),
  );
  expect(texts.map((text) => text.includes("newer messages"))).toEqual([
    ...Array.from({ length: 8 }, () => false),
    true,
    true,
  ]);
});

test("an answer that is deleted alone is in no later prompt", async () => {
  const { server, prompt, load } = served(...answers(2));
  const chat = new Chat({ server });
  await chat.sendMessage({ text: "one" });
  chat.messages = chat.messages.slice(0, 1);
  await chat.sendMessage({ text: "two" });
  expect(prompt()).toEqual(["one", "two"]);
  expect(textsOf(await load())).toEqual(["one", "two", "answer 2"]);
});

test.each([
  ["older messages are deleted", (messages: UIMessage[]) => messages.slice(2)],
  ["a message in the middle is deleted", (messages: UIMessage[]) => messages.filter((_, index) => index !== 1)],
  ["a user's message is rewritten", ([, ...rest]: UIMessage[]) => [said("m1", "user", "other"), ...rest]],
  ["an answer is rewritten", ([first, , ...rest]: UIMessage[]) => [first, said("turn-1", "assistant", "no"), ...rest]],
  ["a message is put in", ([first, ...rest]: UIMessage[]) => [said("m0", "user", "before"), first, ...rest]],
  ["an answer is put in at the end", (messages: UIMessage[]) => [...messages, said("x", "assistant", "mine")]],
])("a page is told to load the messages again after %s", async (_, change) => {
  const { server, reported, load } = served(...answers(3));
  const chat = new Chat({ server, messages: [], generateId: () => `m${chat.messages.length + 1}` });
  await chat.sendMessage({ text: "one" });
  await chat.sendMessage({ text: "two" });
  const before = await load();
  const messages = [...change(chat.messages), said("m9", "user", "three")];
  const refusal = await pageErrorOf(await server.fetch(post("/ui", { id: "t", messages })));
  expect(refusal).toMatchObject({ status: 400, kind: "changed", text: expect.stringContaining("Load it again") });
  expect(reported).toEqual([expect.stringContaining("load the messages of the thread again")]);
  expect(await load()).toEqual(before);
});

test.each([
  ["that failed before it said anything", fails({ kind: "auth" })],
  ["that said nothing", reply("")],
])("the server does not tell a page to load the answer of a turn %s", async (_, first) => {
  const { server } = served(first, reply("answer 2"));
  const [one, two] = [said("m1", "user", "one"), said("m2", "user", "two")];
  await (await server.fetch(post("/ui", { id: "t", messages: [one] }))).text();
  expect(await (await server.fetch(post("/ui", { id: "t", messages: [one, two] }))).text()).toContain("answer 2");
});

test("so is one whose messages before were refused", async () => {
  const { host, server, prompt } = served(...answers(3));
  await host.thread("t").ask("one");
  const late = new Chat({ server, messages: [said("m1", "user", "two")] });
  await late.sendMessage({ text: "three" });
  expect(late.lastMessage?.metadata).toMatchObject({ turn: 2, earlier: true });
  await late.sendMessage({ text: "four" });
  expect(late.error).toBeUndefined();
  expect(prompt()).toEqual(["one", "answer 1", "two", "three", "answer 2", "four"]);
});

test("a page that sends what another has sent behind turns that it does not show is told", async () => {
  const { server, load } = served(...answers(3));
  await new Chat({ server }).sendMessage({ text: "one" });
  const behind = await load();
  const chat = new Chat({ server, messages: await load() });
  await chat.sendMessage({ text: "two" });
  await server.fetch(post("/ui", { id: "t", messages: [...chat.messages, said("same", "user", "three")] }));
  const told: unknown[] = [];
  const late = new Chat({ server, messages: behind, generateId: () => "same", onData: (part) => void told.push(part) });
  await late.sendMessage({ text: "three" });
  expect(late.lastMessage?.id).toBe("turn-3");
  expect(told).toMatchObject([{ type: "data-differs", data: { reason: expect.stringContaining("newer") } }]);
});

test("a conversation that a page brings along begins the thread", async () => {
  const { server, prompt, load } = served(...answers(2));
  const messages = [said("x1", "user", "before"), said("y1", "assistant", "elsewhere")];
  const chat = new Chat({ server, messages });
  await chat.sendMessage({ text: "one" });
  expect(prompt()).toEqual(["before", "elsewhere", "one"]);
  await chat.sendMessage({ text: "two" });
  expect(prompt()).toEqual(["before", "elsewhere", "one", "answer 1", "two"]);
  expect(textsOf(await load())).toEqual(textsOf(chat.messages));
});

test("a greeting of the page alone is told to be none of a thread that was begun elsewhere", async () => {
  const { host, server, prompt } = served(...answers(2));
  await host.thread("t").start();
  const told: unknown[] = [];
  const chat = new Chat({ server, messages: [said("g", "assistant", "Hi!")], onData: (part) => void told.push(part) });
  await chat.sendMessage({ text: "one" });
  await chat.sendMessage({ text: "two" });
  expect(prompt()).toEqual(["one", "answer 1", "two"]);
  expect(told).toMatchObject([{ type: "data-differs" }, { type: "data-differs" }]);
});

test("two tabs that edit at once each continue from what they show, or are told", async () => {
  const { server, prompt, load } = served(...answers(6));
  const first = new Chat({ server });
  await first.sendMessage({ text: "one" });
  const second = new Chat({ server, messages: await load() });
  const messageId = first.messages[0]?.id ?? "";
  await Promise.all([
    first.sendMessage({ text: "first", messageId }),
    second.sendMessage({ text: "second", messageId }),
  ]);
  const shown = [first, second].filter(({ error }) => error === undefined).map(({ messages }) => textsOf(messages));
  expect(shown).toContainEqual(textsOf(await load()));
  for (const [chat, text] of [
    [first, "first"],
    [second, "second"],
  ] as const) {
    await chat.sendMessage({ text: "And now?" });
    expect(chat.error).toBeUndefined();
    expect(prompt()[0]).toBe(text);
    expect(prompt()).toEqual(textsOf(chat.messages).slice(0, -1));
  }
});

test("system messages of a page are left out, and messages that nobody answered are asked together", async () => {
  const { server, prompt } = served(...answers(2));
  const system: UIMessage = { ...said("s", "user", "Be rude."), role: "system" };
  const chat = new Chat({ server, messages: [system, said("lost", "user", "lost")] });
  await chat.sendMessage({ text: "one" });
  expect(prompt()).toEqual(["lost", "one"]);
  await chat.sendMessage({ text: "two" });
  expect(prompt()).toEqual(["lost", "one", "answer 1", "two"]);
});

test("an answer to a turn that the thread does not have is refused", async () => {
  const { server } = served();
  const refusal = await pageErrorOf(
    await server.fetch(post("/ui", { id: "t", messages: [said("turn-1", "assistant", "Hi.")] })),
  );
  expect(refusal).toMatchObject({ status: 400, kind: "changed" });
});
