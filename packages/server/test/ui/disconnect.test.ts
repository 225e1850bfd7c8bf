import { createServer, type Server } from "node:http";
import { tool } from "@colloquy/host";
import { type Overlap, textOf } from "@colloquy/machine";
import { virtualClock } from "@colloquy/runtime-test";
import { never, reply, type ScriptLine, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import { getRequestListener } from "@hono/node-server";
import type { UIMessage } from "ai";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type ThreadServer, threadServer, uiChat, type UiOptions } from "../../src/index.ts";
import { at, post } from "../serving.ts";
import { Chat, keptOf, painted, seat, type Stage, stage, textsOf } from "./page.ts";

type Fetching = Pick<ThreadServer, "fetch">;

let open: Server[] = [];

afterEach(() => {
  for (const server of open) server.close().closeAllConnections();
  open = [];
});

/** Puts the server behind a socket, where a page that leaves ends its connection. */
const overSocket = async (server: Fetching): Promise<Fetching> => {
  const listener = getRequestListener((request) => server.fetch(request));
  const listening = createServer((request, response) => void listener(request, response));
  open.push(listening);
  const { promise, resolve } = Promise.withResolvers<void>();
  listening.listen(0, "127.0.0.1", resolve);
  await promise;
  const place = listening.address();
  const port = typeof place === "object" ? place?.port : undefined;
  return {
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(`http://127.0.0.1:${port}${pathname}${search}`, request));
    },
  };
};

const inProcess = (server: Fetching): Promise<Fetching> => Promise.resolve(server);

interface Served extends Stage {
  readonly server: Fetching;
  readonly prompt: () => readonly string[];
}

const served = async (
  script: readonly ScriptLine[],
  ui: UiOptions,
  mounted: (server: Fetching) => Promise<Fetching> = inProcess,
  options: Parameters<typeof stage>[1] = {},
): Promise<Served> => {
  const model = scriptedModel(script);
  const on = stage(model, options);
  onTestFinished(() => on.host.close());
  const server = await mounted(threadServer(on.host, { ui }));
  return { ...on, server, prompt: () => model.calls.at(-1)?.messages.map(textOf) ?? [] };
};

const statusesOf = async ({ host }: Pick<Stage, "host">): Promise<readonly string[]> =>
  (await host.thread("t").asks()).map(({ status }) => status);

/** An answer whose second half takes a second. */
const slowly = streams(["One, ", { text: "two.", delayMs: 1000 }]);

/** Makes a page that asks, and stops when it shows this text. */
const stopped = async (server: Fetching, shown: string, told?: unknown[]): Promise<Chat> => {
  const chat: Chat = new Chat({ server, onData: (part) => void told?.push(part.data) });
  const sent = chat.sendMessage({ text: "Count." });
  await expect.poll(() => textsOf(chat.messages)).toEqual(["Count.", shown]);
  await chat.stop();
  await sent;
  return chat;
};

describe.each([
  ["in one process", inProcess],
  ["over a socket", overSocket],
])("a page that stops reading, %s,", (_, mounted) => {
  test("has its next message answered at once if a stop cancels", async () => {
    const on = await served([never({ pieces: ["One"] }), reply("Two.")], { onDisconnect: "cancel" }, mounted);
    const chat = await stopped(on.server, "One");
    await chat.sendMessage({ text: "And then?" });
    expect(chat.error).toBeUndefined();
    expect(textsOf(chat.messages)).toEqual(["Count.", "One", "And then?", "Two."]);
    expect(on.prompt()).toEqual(["Count.", "One", "And then?"]);
    expect(await statusesOf(on)).toEqual(["cancelled", "completed"]);
    expect(textsOf(await painted(on.server))).toEqual(textsOf(chat.messages));
  });

  test("has its next message answered after the turn if that continues, and is told what it did not read", async () => {
    const clock = virtualClock();
    const script = [slowly, reply("Three.")];
    const on = await served(script, {}, mounted, { clock });
    const told: unknown[] = [];
    const chat = await stopped(on.server, "One, ", told);
    const sent = chat.sendMessage({ text: "And then?" });
    await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
    await clock.advance(1000);
    await sent;
    expect(chat.error).toBeUndefined();
    expect(textsOf(chat.messages)).toEqual(["Count.", "One, ", "And then?", "Three."]);
    expect(on.prompt()).toEqual(["Count.", "One, two.", "And then?"]);
    expect(told).toEqual([{ reason: expect.stringContaining("part of an answer") }]);
  });

  test("and closes finds what it had read of a cancelled turn, and nothing to resume", async () => {
    const on = await served([never({ pieces: ["One"] })], { onDisconnect: "cancel" }, mounted);
    await stopped(on.server, "One");
    await expect.poll(() => statusesOf(on)).toEqual(["cancelled"]);
    const messages = await painted(on.server);
    const back = new Chat({ server: on.server, messages: [...messages] });
    await back.resumeStream();
    expect(back.status).toBe("ready");
    expect(textsOf(back.messages)).toEqual(["Count.", "One"]);
    expect((await on.server.fetch(at("/ui/t/stream"))).status).toBe(204);
  });

  test("and comes back resumes a turn that continued", async () => {
    const clock = virtualClock();
    const on = await served([slowly], {}, mounted, { clock });
    await stopped(on.server, "One, ");
    const back = new Chat({ server: on.server, messages: [...(await painted(on.server))] });
    const resumed = back.resumeStream();
    await expect.poll(() => textsOf(back.messages).at(-1)).toEqual("One, ");
    await clock.advance(1000);
    await resumed;
    expect(textsOf(back.messages)).toEqual(["Count.", "One, two."]);
    expect(keptOf(back.messages)).toEqual(keptOf(await painted(on.server)));
  });
});

describe.each(["cancel", "continue"] as const)("with onDisconnect %s", (onDisconnect) => {
  test("a page that stopped while a tool ran is answered next", async () => {
    const running = Promise.withResolvers<AbortSignal>();
    const done = Promise.withResolvers<string>();
    const slow = tool({
      name: "slow",
      description: "Takes its time.",
      input: { jsonSchema: { type: "object" } },
      run: (_, { signal }) => {
        running.resolve(signal);
        return done.promise;
      },
    });
    const script =
      onDisconnect === "cancel"
        ? [toolCalls([{ name: "slow", arguments: {} }]), reply("Hello.")]
        : [toolCalls([{ name: "slow", arguments: {} }]), reply("Looked."), reply("Hello.")];
    const on = await served(script, { onDisconnect }, inProcess, { tools: [slow] });
    const chat: Chat = new Chat({ server: on.server });
    const sent = chat.sendMessage({ text: "Look." });
    const signal = await running.promise;
    await expect.poll(() => chat.lastMessage?.parts.at(-1)?.type).toBe("tool-slow");
    await chat.stop();
    await sent;
    const next = chat.sendMessage({ text: "Hello?" });
    const statuses = onDisconnect === "cancel" ? ["cancelled", "completed"] : ["open", "queued"];
    await expect.poll(() => statusesOf(on)).toEqual(statuses);
    expect(signal.aborted).toBe(onDisconnect === "cancel");
    done.resolve("found");
    await next;
    expect(chat.error).toBeUndefined();
    expect(textsOf(chat.messages).at(-1)).toBe("Hello.");
    expect(await statusesOf(on)).toEqual([onDisconnect === "cancel" ? "cancelled" : "completed", "completed"]);
  });

  test("a page that closed while an approval was awaited finds it again, and may say something else", async () => {
    const on = await served([toolCalls([{ name: "pay", arguments: {} }]), reply("As you like.")], { onDisconnect });
    const chat = new Chat({ server: on.server });
    await chat.sendMessage({ text: "Pay." });
    await chat.stop();
    expect(await on.host.thread("t").approvals()).toHaveLength(1);
    const back = new Chat({ server: on.server, messages: [...(await painted(on.server))] });
    expect(back.lastMessage?.parts.at(-1)).toMatchObject({ state: "approval-requested" });
    await back.sendMessage({ text: "Never mind." });
    expect(textsOf(back.messages).at(-1)).toBe("As you like.");
    expect(await statusesOf(on)).toEqual(["cancelled", "completed"]);
  });

  test("a page that stopped and regenerates has one answer, in place of the one that it stopped", async () => {
    const on = await served([never({ pieces: ["One"] }), reply("Two.")], { onDisconnect });
    const chat = await stopped(on.server, "One");
    await chat.regenerate();
    expect(chat.error).toBeUndefined();
    expect(textsOf(chat.messages)).toEqual(["Count.", "Two."]);
    expect(on.prompt()).toEqual(["Count."]);
    expect(textsOf(await painted(on.server))).toEqual(["Count.", "Two."]);
  });

  test("a second tab whose message waits is answered, and leaves the first alone", async () => {
    const clock = virtualClock();
    const script = [reply("Zero."), slowly, reply("Three.")];
    const on = await served(script, { onDisconnect }, inProcess, { clock });
    const first = new Chat({ server: on.server });
    await first.sendMessage({ text: "Begin." });
    const second = new Chat({ server: on.server, messages: [...(await painted(on.server))] });
    const one = first.sendMessage({ text: "Count." });
    await expect.poll(() => textsOf(first.messages).at(-1)).toBe("One, ");
    const other = second.sendMessage({ text: "And then?" });
    await clock.advance(1000);
    await Promise.all([one, other]);
    expect([first.error, second.error]).toEqual([undefined, undefined]);
    expect(textsOf(first.messages)).toEqual(["Begin.", "Zero.", "Count.", "One, two."]);
    // The page continues from its shown messages, on another branch.
    expect(textsOf(second.messages)).toEqual(["Begin.", "Zero.", "And then?", "Three."]);
    expect(on.prompt()).toEqual(["Begin.", "Zero.", "And then?"]);
  });

  test("two tabs that send at once are both answered", async () => {
    const on = await served([reply("Zero."), reply("One."), reply("Two.")], { onDisconnect });
    const first = new Chat({ server: on.server });
    await first.sendMessage({ text: "Begin." });
    const second = new Chat({ server: on.server, messages: [...(await painted(on.server))] });
    await Promise.all([first.sendMessage({ text: "a" }), second.sendMessage({ text: "b" })]);
    expect([first.error, second.error]).toEqual([undefined, undefined]);
    expect(new Set([first, second].map((chat) => textsOf(chat.messages).at(-1)))).toEqual(new Set(["One.", "Two."]));
  });
});

test("a page whose waiting message was sent, stopped and followed by another is answered what it shows", async () => {
  const clock = virtualClock();
  const script = [slowly, reply("Three."), reply("Four.")];
  const on = await served(script, {}, inProcess, { clock });
  const told: unknown[] = [];
  const chat = await stopped(on.server, "One, ", told);
  const second = chat.sendMessage({ text: "And then?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await chat.stop();
  await second;
  const third = chat.sendMessage({ text: "And after that?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued", "queued"]);
  await clock.advance(1000);
  await third;
  expect(on.prompt()).toEqual(["Count.", "One, two.", "And then?", "Three.", "And after that?"]);
  expect(told).toHaveLength(1);
});

test("a page that is loaded again shows the messages that wait, in order, and continues after them", async () => {
  const clock = virtualClock();
  const lines = ["Three.", "Four.", "Five."].map((text) => reply(text));
  const on = await served([slowly, ...lines], {}, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  for (const [text, count] of [
    ["And then?", 2],
    ["And after that?", 3],
  ] as const) {
    const sent = chat.sendMessage({ text });
    await expect.poll(async () => (await statusesOf(on)).length).toBe(count);
    await chat.stop();
    await sent;
  }
  // Another program asks without a page's id.
  void on.host.thread("t").ask("And at last?", { overlap: "queue" });
  await expect.poll(async () => (await statusesOf(on)).length).toBe(4);

  const messages = await painted(on.server);
  expect(textsOf(messages)).toEqual(["Count.", "", "And then?", "And after that?"]);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "user"]);
  const userIds = (all: readonly UIMessage[]): readonly string[] =>
    all.flatMap(({ role, id }) => (role === "user" ? [id] : []));
  expect(userIds(messages)).toEqual(userIds(chat.messages));
  const newest = (await on.server.fetch(at("/ui/t/messages?last=1"))).json();
  expect(textsOf(await newest)).toEqual(["Count.", "", "And then?", "And after that?"]);

  const back = new Chat({ server: on.server, messages: [...messages] });
  const resumed = back.resumeStream();
  await expect.poll(() => textsOf(back.messages)[1]).toBe("One, ");
  await clock.advance(1000);
  await resumed;
  // The resumed answer stays before the messages that waited for it.
  expect(textsOf(back.messages)).toEqual(["Count.", "One, two.", "And then?", "And after that?"]);
  await expect.poll(async () => (await statusesOf(on)).join()).toBe("completed,completed,completed,completed");
  expect(textsOf(await painted(on.server))).toEqual([
    "Count.",
    "One, two.",
    "And then?",
    "Three.",
    "And after that?",
    "Four.",
    "And at last?",
    "Five.",
  ]);
});

test("a page that is loaded again sends its next message after those that wait, which are asked once", async () => {
  const clock = virtualClock();
  const script = [slowly, reply("Three."), reply("Four.")];
  const on = await served(script, {}, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  void chat.sendMessage({ text: "And then?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  const back = new Chat({ server: on.server, messages: [...(await painted(on.server))] });
  const sent = back.sendMessage({ text: "And after that?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued", "queued"]);
  await clock.advance(1000);
  await sent;
  expect(back.error).toBeUndefined();
  expect(on.prompt()).toEqual(["Count.", "One, two.", "And then?", "Three.", "And after that?"]);
});

test("a message that is edited while it waits is asked once, as it is now", async () => {
  const clock = virtualClock();
  const on = await served([slowly, reply("Three.")], {}, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  const sent = chat.sendMessage({ text: "And then?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await chat.stop();
  await sent;
  const [waiting] = chat.messages.slice(-1);
  const edited = chat.sendMessage({ text: "And after that?", messageId: waiting?.id ?? "" });
  await expect.poll(() => statusesOf(on)).toEqual(["withdrawn", "open", "queued"]);
  await clock.advance(1000);
  await edited;
  expect(textsOf(await painted(on.server))).toEqual(["Count.", "One, two.", "And after that?", "Three."]);
});

test("a message that is edited while it waits is asked with the unanswered one before it again", async () => {
  const clock = virtualClock();
  const on = await served([slowly, reply("Three.")], {}, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  const said = (id: string, text: string): UIMessage => ({ id, role: "user", parts: [{ type: "text", text }] });
  const send = (last: string, more: object = {}): Promise<Response> => {
    const messages = [...chat.messages, said("lost", "Lost."), said("last", last)];
    return on.server.fetch(post("/ui", { id: "t", trigger: "submit-message", messages, ...more }));
  };
  await send("And then?");
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  const answered = await send("And after that?", { messageId: "last" });
  await clock.advance(1000);
  expect(await answered.text()).toContain("Three.");
  expect(on.prompt()).toEqual(["Count.", "One, two.", "Lost.", "And after that?"]);
});

test("a message that waits is asked once, even if its page sends it again", async () => {
  const clock = virtualClock();
  const on = await served([slowly, reply("Three.")], {}, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  const last: UIMessage = { id: "last", role: "user", parts: [{ type: "text", text: "And then?" }] };
  const send = (): Promise<Response> =>
    on.server.fetch(post("/ui", { id: "t", trigger: "submit-message", messages: [...chat.messages, last] }));
  const answers = [await send()];
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  answers.push(await send());
  await clock.advance(1000);
  for (const answer of answers) expect(await answer.text()).toContain("Three.");
  expect(await statusesOf(on)).toEqual(["completed", "completed"]);
});

test("a page that sends nothing but its waiting message is told each time that there are older ones", async () => {
  const clock = virtualClock();
  const on = await served([slowly, reply("Three.")], {}, inProcess, { clock });
  await stopped(on.server, "One, ");
  const messages = [{ id: "last", role: "user", parts: [{ type: "text", text: "And then?" }] }];
  const send = (): Promise<Response> => on.server.fetch(post("/ui", { id: "t", trigger: "submit-message", messages }));
  const answers = [await send()];
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  answers.push(await send());
  await clock.advance(1000);
  for (const answer of answers) expect(await answer.text()).toContain('"messageMetadata":{"turn":2,"earlier":true}');
  expect(await statusesOf(on)).toEqual(["completed", "completed"]);
});

test("a message that waits stays as it was when its edit is refused", async () => {
  const clock = virtualClock();
  const on = await served([slowly, reply("Three.")], {}, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  const sent = chat.sendMessage({ text: "And then?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await chat.stop();
  await sent;
  const [waiting] = chat.messages.slice(-1);
  chat.messages = chat.messages.map((message, index) =>
    index === 0 ? { ...message, parts: [{ type: "text", text: "Count otherwise." }] } : message,
  );
  await chat.sendMessage({ text: "And after that?", messageId: waiting?.id ?? "" });
  expect(chat.error?.message).toContain("has changed");
  expect(await statusesOf(on)).toEqual(["open", "queued"]);
  await clock.advance(1000);
  await expect.poll(() => statusesOf(on)).toEqual(["completed", "completed"]);
});

test("a message that waits is not kept waiting by a turn that comes to need an answer of the page", async () => {
  const clock = virtualClock();
  const asks = toolCalls([{ name: "seat", arguments: {} }], { content: "Let me see.", delayMs: 1000 });
  const on = await served([asks, reply("As you like.")], { tools: [seat] }, inProcess, { clock });
  const chat: Chat = new Chat({ server: on.server });
  const sent = chat.sendMessage({ text: "Where do I sit?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open"]);
  await chat.stop();
  await sent;
  const next = chat.sendMessage({ text: "Never mind." });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await clock.advance(1000);
  await next;
  expect(textsOf(chat.messages).at(-1)).toBe("As you like.");
  expect(await statusesOf(on)).toEqual(["cancelled", "completed"]);
});

test("a message that waits leaves the turn before it alone when a tool of the host has run in that", async () => {
  const clock = virtualClock();
  const looks = toolCalls([{ name: "echo", arguments: {} }], { delayMs: 1000 });
  const script = [looks, reply("Looked.", { delayMs: 1000 }), reply("Hello.")];
  const on = await served(script, {}, inProcess, { clock });
  const chat: Chat = new Chat({ server: on.server });
  const sent = chat.sendMessage({ text: "Look." });
  await expect.poll(() => statusesOf(on)).toEqual(["open"]);
  await chat.stop();
  await sent;
  const next = chat.sendMessage({ text: "Hello?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await clock.advance(1000);
  await expect.poll(() => on.host.thread("t").look(({ context }) => context.open?.step)).toBe(2);
  await clock.advance(1000);
  await next;
  expect(textsOf(chat.messages).at(-1)).toBe("Hello.");
  expect(await statusesOf(on)).toEqual(["completed", "completed"]);
});

test("a message that waits is not kept waiting by the turn of another that waits before it", async () => {
  const clock = virtualClock();
  const asks = toolCalls([{ name: "seat", arguments: {} }], { content: "Let me see." });
  const on = await served([slowly, asks, reply("As you like.")], { tools: [seat] }, inProcess, { clock });
  const chat = await stopped(on.server, "One, ");
  const second = chat.sendMessage({ text: "Where do I sit?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await chat.stop();
  await second;
  const third = chat.sendMessage({ text: "Never mind." });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued", "queued"]);
  await clock.advance(1000);
  await third;
  expect(textsOf(chat.messages).at(-1)).toBe("As you like.");
  expect(await statusesOf(on)).toEqual(["completed", "cancelled", "completed"]);
});

test("a message of another branch does not wait for a turn that comes to need an answer of the page", async () => {
  const clock = virtualClock();
  const asks = toolCalls([{ name: "seat", arguments: {} }], { content: "Let me see.", delayMs: 1000 });
  const on = await served([reply("Hi."), asks, reply("As you like.")], { tools: [seat] }, inProcess, { clock });
  const first = new Chat({ server: on.server });
  await first.sendMessage({ text: "Hello?" });
  const second = new Chat({ server: on.server, messages: [...(await painted(on.server))] });
  const one = first.sendMessage({ text: "Where do I sit?" });
  await expect.poll(() => statusesOf(on)).toEqual(["completed", "open"]);
  const other = second.sendMessage({ text: "Never mind." });
  await clock.advance(1000);
  await Promise.all([one, other]);
  expect(textsOf(second.messages)).toEqual(["Hello?", "Hi.", "Never mind.", "As you like."]);
  expect(await statusesOf(on)).toEqual(["completed", "cancelled", "completed"]);
});

test("a tab that stops while its message waits withdraws that alone", async () => {
  const clock = virtualClock();
  const script = [slowly];
  const on = await served(script, { onDisconnect: "cancel" }, inProcess, { clock });
  const [first, second]: readonly [Chat, Chat] = [new Chat({ server: on.server }), new Chat({ server: on.server })];
  const one = first.sendMessage({ text: "Count." });
  await expect.poll(() => textsOf(first.messages).at(-1)).toBe("One, ");
  const other = second.sendMessage({ text: "And then?" });
  await expect.poll(() => statusesOf(on)).toEqual(["open", "queued"]);
  await second.stop();
  await other;
  await expect.poll(async () => (await statusesOf(on)).includes("withdrawn")).toBe(true);
  await clock.advance(1000);
  await one;
  expect(textsOf(first.messages)).toEqual(["Count.", "One, two."]);
});

test("a tab that stops while its message of another branch waits is not asked", async () => {
  const clock = virtualClock();
  const script = [reply("Zero."), slowly, reply("Three.")];
  const on = await served(script, { onDisconnect: "cancel" }, inProcess, { clock });
  const first = new Chat({ server: on.server });
  await first.sendMessage({ text: "Begin." });
  const waits = Promise.withResolvers<void>();
  const fetch = async (request: Request): Promise<Response> => {
    const response = await on.server.fetch(request);
    waits.resolve();
    return response;
  };
  const second = new Chat({ server: { fetch }, messages: [...(await painted(on.server))] });
  const one = first.sendMessage({ text: "Count." });
  await expect.poll(() => textsOf(first.messages).at(-1)).toBe("One, ");
  const other = second.sendMessage({ text: "And then?" });
  await waits.promise;
  await second.stop();
  await other;
  await clock.advance(1000);
  await one;
  await first.sendMessage({ text: "And you?" });
  expect(on.prompt()).toEqual(["Begin.", "Zero.", "Count.", "One, two.", "And you?"]);
  expect(await statusesOf(on)).toEqual(["completed", "completed", "completed"]);
});

test("a stop cancels the turn of another process", async () => {
  const first = stage([never({ pieces: ["One"] })]);
  const ask = first.host.thread("t").ask("Count.", { askId: "a" });
  await expect.poll(() => statusesOf(first)).toEqual(["open"]);
  const next = first.another([]);
  const server = threadServer(next.host, { ui: { onDisconnect: "cancel" } });
  const back: Chat = new Chat({ server });
  const resumed = back.resumeStream();
  await expect.poll(() => back.status).toBe("submitted");
  await back.stop();
  await resumed;
  await expect(ask).rejects.toThrow("cancelled: the user stopped it, or left");
  await first.host.close();
  await next.host.close();
});

test("a server that closes cancels no turn", async () => {
  const { host } = stage([never({ pieces: ["One"] })]);
  const server = threadServer(host, { ui: { onDisconnect: "cancel" }, drainMs: 0 });
  const chat: Chat = new Chat({ server });
  const sent = chat.sendMessage({ text: "Count." });
  await expect.poll(() => textsOf(chat.messages).at(-1)).toBe("One");
  await server.close();
  await sent;
  expect((await host.thread("t").asks()).map(({ status }) => status)).toEqual(["open"]);
  await host.close();
});

test("a turn that ended is not touched by the end of its connection", async () => {
  const on = await served([reply("Hi.")], { onDisconnect: "cancel" }, overSocket);
  const chat = new Chat({ server: on.server });
  await chat.sendMessage({ text: "Hello?" });
  expect(await statusesOf(on)).toEqual(["completed"]);
});

describe("a message that is sent while a turn is open", () => {
  const stoppedUnder = async (overlap: Overlap): Promise<Served & { readonly chat: Chat }> => {
    const on = await served([never({ pieces: ["One"] }), reply("Two.")], {}, inProcess, { machine: { overlap } });
    return { ...on, chat: await stopped(on.server, "One") };
  };

  test("is refused, with a sentence for its user, if the machine was told to refuse it", async () => {
    const { chat, ...on } = await stoppedUnder({ type: "reject" });
    await chat.sendMessage({ text: "And then?" });
    expect(chat.error?.message).toBe(
      "This chat is still working on an earlier message. Wait for its answer, then try again.",
    );
    expect(await statusesOf(on)).toEqual(["open"]);
  });

  test("takes the place of the turn if the machine was told to interrupt", async () => {
    const { chat, ...on } = await stoppedUnder({ type: "interrupt" });
    await chat.sendMessage({ text: "And then?" });
    expect(textsOf(chat.messages)).toEqual(["Count.", "One", "And then?", "Two."]);
    expect(await statusesOf(on)).toEqual(["cancelled", "completed"]);
  });
});

test("uiChat and threadServer refuse another value", () => {
  const { host } = stage([]);
  // Cast: a caller in JavaScript may do so.
  const onDisconnect = "stop" as "cancel";
  expect(() => uiChat(host, { path: "/api/chat", authenticate: () => null, onDisconnect })).toThrow("onDisconnect");
  expect(() => threadServer(host, { ui: { onDisconnect } })).toThrow("onDisconnect");
});
