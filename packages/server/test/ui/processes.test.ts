import { virtualClock } from "@colloquy/runtime-test";
import { fails, never, reply, scriptedModel, streams, toolCalls } from "@colloquy/runtime-test/models";
import type { UIMessage } from "ai";
import { describe, expect, test } from "vitest";
import { threadServer, toUiMessageStream, uiChat, uiMessagesOf } from "../../src/index.ts";
import { at, post } from "../serving.ts";
import { allOf, Chat, keptOf, messageOf, seat, stage } from "./page.ts";

describe("with several processes on one store", () => {
  test("a page resumes a turn whose process ended, and it goes on", async () => {
    const first = stage([never({ pieces: [{ text: "One, " }] })]);
    const chat = new Chat({ server: threadServer(first.host) });
    const sent = chat.sendMessage({ text: "Count." });
    await expect.poll(() => chat.lastMessage?.role).toBe("assistant");
    await first.host.close();
    await sent;
    expect(chat.status).toBe("error");
    const next = first.another([streams(["One, ", "two."])]);
    const back = new Chat({ server: threadServer(next.host), messages: chat.messages });
    await back.resumeStream();
    const state = await next.host.thread("t").state();
    expect(keptOf(back.messages)).toEqual(state === null ? null : keptOf(uiMessagesOf(state)));
    expect(back.messages).toMatchObject([{}, { parts: [{}, { text: "One, two." }] }]);
    await next.host.close();
  });

  test("a page that is loaded again resumes once for each turn: the open one, and that of its queued message", async () => {
    const clock = virtualClock();
    const lines = ["One, ", "Three, "].map((first) => streams([first, { text: "and more.", delayMs: 1000 }]));
    const { host } = stage(lines, { clock });
    const server = threadServer(host);
    const asks = ["Count.", "And then?"].map((input) => host.thread("t").ask(input, { overlap: "queue" }));
    const loaded = async (): Promise<UIMessage[]> => (await server.fetch(at("/ui/t/messages"))).json();
    const last = (chat: Chat): unknown => chat.lastMessage?.parts.at(-1);
    for (const text of ["One, ", "Three, "]) {
      await expect.poll(() => host.thread("t").look(({ context }) => context.open !== null)).toBe(true);
      const chat: Chat = new Chat({ server, messages: await loaded() });
      const resumed = chat.resumeStream();
      await expect.poll(() => last(chat)).toMatchObject({ text });
      await clock.advance(1000);
      await resumed;
      expect(last(chat)).toMatchObject({ text: `${text}and more.` });
    }
    await Promise.all(asks);
    expect((await server.fetch(at("/ui/t/stream"))).status).toBe(204);
    await host.close();
  });

  test("who follows another process has all of the message in the end", async () => {
    const first = stage([toolCalls([{ name: "echo", arguments: { at: 1 } }], { content: "Look:" }), reply("Done.")]);
    const second = first.another([]);
    const ask = first.host.thread("t").ask("Hello?", { askId: "a" });
    const there = second.host.thread("t");
    const [own, followed] = await Promise.all([
      allOf(toUiMessageStream(ask)),
      allOf(toUiMessageStream(there.ask("Hello?", { askId: "a" }), { thread: there })),
    ]);
    expect(await messageOf(followed)).toEqual(await messageOf(own));
    await first.host.close();
    await second.host.close();
  });

  test("an answer that is sent to another process than has the thread goes on with the turn, and is shown", async () => {
    const clock = virtualClock();
    const first = stage([toolCalls([{ name: "seat", arguments: {} }]), reply("In 12C.")], { clock });
    const chat = new Chat({ server: threadServer(first.host, { ui: { tools: [seat] } }) });
    await chat.sendMessage({ text: "Where do I sit?" });
    const next = first.another([]);
    const there = new Chat({ server: threadServer(next.host), messages: chat.messages });
    await there.addToolOutput({ tool: "seat", toolCallId: "1.1.0", output: "12C" });
    let isDone = false;
    const sent = there.sendMessage().finally(() => (isDone = true));
    // Until one host sees the other's inbox item, which is before the other releases its idle thread.
    while (!isDone) await clock.advance(50);
    await sent;
    expect(there.messages).toMatchObject([{}, { parts: [{}, { output: "12C" }, {}, { text: "In 12C." }] }]);
    await first.host.close();
    await next.host.close();
  });

  test("an answer that is sent to another process goes on with the turn there", async () => {
    const first = stage([toolCalls([{ name: "seat", arguments: {} }])]);
    const chat = new Chat({ server: threadServer(first.host, { ui: { tools: [seat] } }) });
    await chat.sendMessage({ text: "Where do I sit?" });
    await first.host.close();
    const next = first.another([reply("In 12C.")]);
    const there = new Chat({ server: threadServer(next.host), messages: chat.messages });
    await there.addToolOutput({ tool: "seat", toolCallId: "1.1.0", output: "12C" });
    await there.sendMessage();
    expect(there.messages).toMatchObject([{}, { parts: [{}, { output: "12C" }, {}, { text: "In 12C." }] }]);
    // Sent again, as after a broken connection, it gets the same answer.
    const body = { id: "t", messages: there.messages.slice(0, 2), messageId: "turn-1" };
    const again = await (await threadServer(next.host).fetch(post("/ui", body))).text();
    expect(again).toContain('"delta":"In 12C."');
    await next.host.close();
  });
});

test("uiChat answers under its path, to those whom it knows, from its own pages", async () => {
  const { host } = stage([reply("Hi.")]);
  const { GET, POST } = uiChat(host, {
    path: "/api/chat",
    authenticate: ({ headers }) => (headers.get("cookie") === "user=ada" ? { id: "ada" } : null),
    mayUse: ({ id }, threadId) => threadId.startsWith(`${id}-`),
  });
  const cookie = { cookie: "user=ada" };
  const body = { id: "ada-1", messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello?" }] }] };
  const statusOf = async (response: Promise<Response>): Promise<number> => (await response).status;
  expect(await statusOf(POST(post("/api/chat", body)))).toBe(401);
  expect(await statusOf(POST(post("/api/chat", { ...body, id: "bob-1" }, cookie)))).toBe(404);
  expect(await statusOf(POST(post("/api/chat", body, { ...cookie, origin: "https://evil.example" })))).toBe(403);
  expect(await (await POST(post("/api/chat", body, cookie))).text()).toContain('"delta":"Hi."');
  const messages = await GET(at("/api/chat/ada-1/messages", { headers: cookie }));
  expect(await messages.json()).toMatchObject([{ id: "m1", role: "user" }, { id: "turn-1" }]);
  await host.close();
});

test("uiChat offers the page's tools to the model, and answers a failure with the page's own text", async () => {
  const model = scriptedModel([toolCalls([{ name: "seat", arguments: {} }]), fails({ kind: "auth" })]);
  const { host } = stage(model);
  const { POST } = uiChat(host, {
    path: "/api/chat",
    authenticate: () => ({ id: "ada" }),
    tools: [seat],
    errorText: () => "Call the desk.",
  });
  const asked = async (id: string): Promise<string> => {
    const messages = [{ id: `m-${id}`, role: "user", parts: [{ type: "text", text: "Where do I sit?" }] }];
    return (await POST(post("/api/chat", { id, messages }))).text();
  };
  expect(await asked("one")).toContain('"toolName":"seat"');
  expect(model.calls[0]?.tools?.map(({ name }) => name)).toContain("seat");
  expect(await asked("two")).toContain('{"type":"error","errorText":"Call the desk."}');
  expect(await asked("no such id")).toBe("Call the desk.");
  await host.close();
});
