import {
  conversationMachine,
  type Event,
  type SeedDraft,
  start,
  type State,
  textOf,
  transition,
} from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { fails, reply, type ScriptLine, scriptedModel } from "@colloquy/runtime-test/models";
import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { threadServer } from "../../src/index.ts";
import { draftOf, type SentMessage } from "../../src/ui/chat-request.ts";
import { asksOfOldText, differenceBefore, placeInThread } from "../../src/ui/page-place.ts";
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

test("a message that is edited and edited back, twice, has the thread on its own branch again", async () => {
  const { server, prompt, load } = served(...answers(6));
  const chat = new Chat({ server });
  await chat.sendMessage({ text: "hello" });
  const messageId = chat.messages[0]?.id ?? "";
  for (const text of ["bye", "hello", "bye", "hello"]) await chat.sendMessage({ text, messageId });
  expect(textsOf(await load())).toEqual(textsOf(chat.messages));
  await chat.sendMessage({ text: "And now?" });
  expect(prompt()).toEqual(["hello", "answer 5", "And now?"]);
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

test.each([
  ["the host's system prompt", { system: "Be brief." }, ["Be brief."]],
  ["no system prompt if the host has none", {}, []],
])("a conversation that a page brings along begins the thread under %s", async (_, options, expected) => {
  const model = scriptedModel(answers(1));
  const host = createHost({ llm: model, store: memoryStore(), ...options });
  const messages = [said("x1", "user", "before"), said("y1", "assistant", "elsewhere")];
  await new Chat({ server: threadServer(host), messages }).sendMessage({ text: "one" });
  expect(model.calls.at(-1)?.messages.map(textOf)).toEqual([...expected, "before", "elsewhere", "one"]);
  await host.close();
});

test("a conversation that a page brings along begins the thread up to its newest answer", async () => {
  const { host, server, prompt } = served(...answers(1));
  const messages = [said("x1", "user", "before"), said("y1", "assistant", "elsewhere"), said("x2", "user", "lost")];
  await new Chat({ server, messages }).sendMessage({ text: "one" });
  expect(prompt()).toEqual(["before", "elsewhere", "lost", "one"]);
  expect(await host.thread("t").look(({ context }) => context.conversation.turns.length)).toBe(2);
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

const rude: UIMessage = { ...said("s", "user", "Be rude."), role: "system" };

test.each([
  ["a page without a system message", []],
  ["a page, whose system message is left out", [rude]],
])("messages that nobody answered are asked together: of %s", async (_, before) => {
  const { server, prompt } = served(...answers(2));
  const chat = new Chat({ server, messages: [...before, said("lost", "user", "lost")] });
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

test("a page is shown no answer to a message that was added to the thread without one", async () => {
  const { host, load } = served();
  await host.thread("t").addTurn([{ role: "user", content: "one" }]);
  expect((await load()).map(({ role }) => role)).toEqual(["user"]);
});

describe("the place of a page's last message", () => {
  const machine = conversationMachine({ overlap: { type: "queue", max: 8 } });
  const asks = (askId: string, text: string, more: object = {}): Event => {
    return { type: "ask.received", at: 1, askId, input: [draftOf(said(askId, "user", text))], ...more };
  };
  const answers = (turn: number, content: string): Event => {
    return { type: "llm.completed", at: 2, effectId: `t/${turn}.1#1`, reply: { content }, finishReason: "stop" };
  };
  const after = (before: State, ...events: readonly Event[]): State => {
    let state = before;
    for (const event of events) {
      const step = transition(machine, state, event);
      if (!step.handled) throw new Error(step.refusal.reason);
      ({ state } = step);
    }
    return state;
  };
  const begun = (seed?: readonly SeedDraft[]): State =>
    after(
      start(machine, { threadId: "t", at: 0, ...(seed === undefined ? {} : { seed }) }).state,
      asks("m1", "one"),
      answers(1, "first"),
      asks("m2", "two"),
      answers(2, "second"),
    );
  const plain = begun();
  const joined = after(plain, asks("m3", "three", { input: ["m3", "m8"].map((id) => draftOf(said(id, "user", id))) }));
  const states = {
    "two turns": plain,
    "two turns after a greeting": begun([{ role: "assistant", content: "Welcome!" }]),
    "an open turn, and one that waits": after(plain, asks("m3", "three"), asks("m4", "four")),
    "an open turn that another caller joined": joined,
    "a turn that another caller joined": after(joined, answers(3, "third")),
    "a branch from its first turn": after(plain, asks("m3", "three", { from: 1 }), answers(3, "third")),
  };

  const texts: Readonly<Record<string, string>> = {
    m1: "one",
    m2: "two",
    m3: "three",
    m4: "four",
    m8: "eight",
    m9: "nine",
    "turn-1": "first",
    "turn-2": "second",
    w: "Welcome!",
    copy: "first",
    mine: "mine",
  };
  /** Reads "m1=uno": a message by its id, with a text that is not its own; "turn-2+" is cut off before it. */
  const page = (short: string): readonly SentMessage[] =>
    short.split(" ").map((each) => {
      const [, id = "", text, cut] = /^([^=+]+)(?:=([^+]*))?(\+)?$/u.exec(each) ?? [];
      const role = /^m\d/u.test(id) ? "user" : id === "system" ? "system" : "assistant";
      const parts = [{ type: "text", text: text ?? texts[id] ?? "" }];
      return { id, role, parts, ...(cut === undefined ? {} : { metadata: { earlier: true } }) };
    });
  const [greeting, seed, part] = [
    "The page begins with a message that the thread does not have.",
    "The thread began with messages that the page does not show.",
    "The page shows part of an answer that the thread has whole.",
  ];
  const here = (parent: number | null, more: object = {}): object => {
    return { parent, answered: null, isCut: parent === null, unanswered: [], differs: null, ...more };
  };
  const cut = (problem: string): object => ({ problem });

  test.each<readonly [keyof typeof states, string, object]>([
    ["two turns", "system", cut("there are none")],
    ["two turns", "m9", here(null)],
    ["two turns", "m1 turn-1 m9", here(1)],
    ["two turns", "system m1 turn-1 system m9", here(1)],
    ["two turns", "m1 turn-1 m2", here(1, { answered: 2 })],
    ["two turns", "m1 turn-1 m2 turn-2 m9", here(2)],
    ["two turns", "turn-1 m9", cut('the message "m1", before turn-1, is missing')],
    ["two turns", "m2 turn-2 m9", cut("the thread has older messages, which the page no longer shows")],
    ["two turns", "m2 turn-2+ m9", here(2)],
    ["two turns", "m1 turn-1=fir m9", here(1, { differs: part })],
    ["two turns", "m1 turn-1=firstly m9", cut("the thread has turn-1 with another text")],
    ["two turns", "m1=uno turn-1 m9", cut('the thread has the message "m1" with another text')],
    ["two turns", "m1 m2 turn-2 m9", cut("turn-1 is missing")],
    ["two turns", "m1 turn-9 m9", cut("turn-9 is not in the thread")],
    ["two turns", "m8 m1 turn-1 m9", cut('the thread has no message "m8" there')],
    ["two turns", "mine m1 turn-1 m9", here(1, { differs: greeting })],
    ["two turns", "m1 m9", here(0, { unanswered: ["m1"] })],
    ["two turns", "m1 m1", here(0, { answered: 1, unanswered: ["m1"] })],
    ["two turns", "m8 m9", here(null, { unanswered: ["m8"] })],
    ["two turns", "m2 m9", here(1, { isCut: true, unanswered: ["m2"] })],
    ["two turns", "mine m9", here(0, { differs: greeting })],
    ["two turns", "mine m8 m9", here(null, { unanswered: ["m8"], differs: greeting })],
    ["two turns", "m8 mine m9", cut('the thread has no message "mine" there')],
    ["two turns", "m1 copy m9", here(1)],
    ["two turns", "m1 copy m2 m9", here(1, { unanswered: ["m2"] })],
    ["two turns", "m1 copy m2", here(1, { answered: 2 })],
    ["two turns", "m1 copy m2 turn-2 m9", here(2)],
    ["two turns after a greeting", "m1 turn-1 m9", here(1, { differs: seed })],
    ["two turns after a greeting", "w m1 turn-1 m9", here(1)],
    ["two turns after a greeting", "0.0=Hello! m1 turn-1 m9", here(1)],
    ["two turns after a greeting", "mine m1 turn-1 m9", here(1, { differs: greeting })],
    ["two turns after a greeting", "m8=Welcome! m1 turn-1 m9", cut('the thread has no message "m8" there')],
    ["two turns after a greeting", "m1 turn-1+ m9", here(1)],
    ["two turns after a greeting", "m2 turn-2+ m9", here(2)],
    ["two turns after a greeting", "w m9", here(0)],
    ["two turns after a greeting", "0.0=Hello! m9", here(0)],
    ["two turns after a greeting", "w m1 m9", here(0, { unanswered: ["m1"] })],
    ["two turns after a greeting", "m1 m9", here(0, { unanswered: ["m1"], differs: seed })],
    ["two turns after a greeting", "m8=Welcome! m9", here(null, { unanswered: ["m8"], differs: seed })],
    ["an open turn, and one that waits", "m1 turn-1 m2 turn-2 m3", here(2, { answered: 3 })],
    ["an open turn, and one that waits", "m1 turn-1 m2 turn-2 m3 m9", here(3)],
    ["an open turn, and one that waits", "m1 turn-1 m2 turn-2 m3 m4 m9", here(3)],
    ["an open turn, and one that waits", "m1 turn-1 m2 turn-2 m3 m4=vier m9", here(3, { unanswered: ["m4"] })],
    ["an open turn, and one that waits", "m1 turn-1 m2 turn-2 m3 m8=four m9", here(3, { unanswered: ["m8"] })],
    ["an open turn, and one that waits", "m1 turn-1 m2 turn-2 m3 turn-3=so m9", here(3)],
    ["an open turn that another caller joined", "m1 turn-1 m2 turn-2 m3=m3 m9", here(3)],
    ["a turn that another caller joined", "m1 turn-1 m2 turn-2 m3=m3 m9", here(2, { unanswered: ["m3"] })],
    ["a branch from its first turn", "m1 turn-1 m2 turn-2 m9", here(2)],
    ["a branch from its first turn", "m1 turn-1 m3", here(1, { answered: 3 })],
    ["a branch from its first turn", "m1 turn-1 m2", here(1)],
  ])("in a thread of %s is found by the messages before it: %s", (thread, short, expected) => {
    const place = placeInThread(states[thread], page(short), false);
    const shown = "problem" in place ? place : { ...place, unanswered: place.unanswered.map(({ id }) => id) };
    expect(shown).toEqual(expected);
  });

  test("is before the turn that a message alone replaces", () => {
    expect(placeInThread(plain, page("m2"), true)).toEqual(here(1, { answered: 2, isCut: true }));
    expect(placeInThread(plain, page("m1"), true)).toEqual(here(0, { answered: 1, isCut: true }));
    expect(placeInThread(plain, page("m9"), true)).toEqual(here(null));
  });

  test.each<readonly [keyof typeof states, number, string, string | null]>([
    ["two turns", 2, "m1 turn-1 m2", null],
    ["two turns", 1, "m1 turn-1 m9", null],
    ["two turns", 2, "m9", null],
    ["two turns", 1, "m1 turn-1 m2 turn-2 m9", "The thread has newer messages than the page shows."],
    ["two turns", 2, "m1 turn-9 m2", "The thread has newer messages than the page shows."],
    ["two turns", 9, "m1 turn-9 m2", "The thread has newer messages than the page shows."],
    ["two turns after a greeting", 2, "m1 turn-1 m2", seed],
  ])("in a thread of %s differs before turn %i by what the page does not show: %s", (thread, turn, short, differs) => {
    expect(differenceBefore(states[thread], turn, page(short))).toBe(differs);
  });

  test.each<readonly [string, readonly string[]]>([
    ["m4", []],
    ["m4=vier", ["m4"]],
    ["m9=vier", []],
  ])("replaces a waiting ask that has another text: %s", (short, askIds) => {
    const [last] = page(short);
    if (last === undefined) throw new Error("the page has no message");
    expect(asksOfOldText(states["an open turn, and one that waits"], last)).toEqual(askIds);
  });
});
