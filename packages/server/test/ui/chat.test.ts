import { tool } from "@colloquy/host";
import { messagesOf } from "@colloquy/machine";
import { never, reply, type ScriptLine, toolCalls } from "@colloquy/runtime-test/models";
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { threadServer } from "../../src/index.ts";
import { at, post } from "../serving.ts";
import { Chat, keptOf, pageErrorOf, painted, seat, type Stage, stage, textsOf, watchedServer } from "./page.ts";

const served = (script: readonly ScriptLine[]): Stage & ReturnType<typeof watchedServer> => {
  const on = stage(script);
  onTestFinished(() => on.host.close());
  return { ...on, ...watchedServer(on, { ui: { tools: [seat] } }) };
};

describe("a page of the AI SDK", () => {
  test("asks, and finds on a reload what it showed", async () => {
    const { server } = served([reply("Hi."), reply("Fine.")]);
    const chat = new Chat({ server });
    await chat.sendMessage({ text: "Hello?", metadata: { from: "Oslo" } });
    // It is the first turn, so nothing is missing before it.
    expect(await painted(server, "?last=1")).toEqual(await painted(server));
    await chat.sendMessage({ text: "How are you?", files: [{ type: "file", mediaType: "image/png", url: picture }] });
    expect(chat.status).toBe("ready");
    expect(textsOf(chat.messages)).toEqual(["Hello?", "Hi.", "How are you?", "Fine."]);
    expect(keptOf(await painted(server))).toEqual(keptOf(chat.messages));
    const [question, answer] = (await painted(server)).slice(2);
    // `earlier` says that there are older messages, so that a page without them does not seem to have deleted them.
    const metadata = { ...Object(answer?.metadata), earlier: true };
    expect(await painted(server, "?last=1")).toEqual([question, { ...answer, metadata }]);
  });

  test("runs tools of its own, whose results go on with the turn", async () => {
    const { server } = served([
      toolCalls([
        { name: "seat", arguments: {} },
        { name: "seat", arguments: { of: "him" } },
      ]),
      reply("You sit in 12C."),
    ]);
    const told: unknown[] = [];
    const chat: Chat = new Chat({
      server,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onData: (part) => void told.push(part),
      onToolCall: ({ toolCall: { toolCallId } }) =>
        void chat.addToolOutput({
          tool: "seat",
          toolCallId,
          ...(toolCallId.endsWith("0") ? { output: { row: 12 } } : lost),
        }),
    });
    await chat.sendMessage({ text: "Where do I sit?" });
    await expect.poll(() => textsOf(chat.messages)).toEqual(["Where do I sit?", "You sit in 12C."]);
    expect(chat.lastMessage?.parts).toMatchObject([
      { type: "step-start" },
      { type: "tool-seat", state: "output-available", output: { row: 12 } },
      { type: "tool-seat", state: "output-error", errorText: "it stands" },
      { type: "step-start" },
      { type: "text" },
    ]);
    await expect.poll(() => chat.status).toBe("ready");
    expect(keptOf(await painted(server))).toEqual(keptOf(chat.messages));
    expect(told).toEqual([]);
  });

  test("runs no call of a reply that was cut, and shows why", async () => {
    const cut = toolCalls([{ name: "seat", arguments: {} }], { finishReason: "length" });
    const { server } = served([cut, reply("Where?")]);
    const ran: string[] = [];
    const chat = new Chat({ server, onToolCall: ({ toolCall }) => void ran.push(toolCall.toolCallId) });
    await chat.sendMessage({ text: "Where do I sit?" });
    expect(ran).toEqual([]);
    expect(chat.lastMessage?.parts).toMatchObject([
      { type: "step-start" },
      { type: "tool-seat", state: "output-error", input: {}, errorText: expect.stringContaining("cut") as unknown },
      { type: "step-start" },
      { type: "text" },
    ]);
    expect(keptOf(await painted(server))).toEqual(keptOf(chat.messages));
  });

  test("approves and denies what was shown", async () => {
    const { server } = served([
      toolCalls([
        { name: "pay", arguments: { amount: 5 } },
        { name: "pay", arguments: { amount: 500 } },
      ]),
      reply("Paid once."),
    ]);
    const chat = new Chat({ server, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: "Pay." });
    expect(chat.lastMessage?.parts).toMatchObject([
      {},
      { state: "approval-requested" },
      { state: "approval-requested" },
    ]);
    const waiting = await painted(server);
    expect(waiting[1]?.parts).toMatchObject([{}, { state: "approval-requested" }, { state: "approval-requested" }]);
    expect((await server.fetch(at("/ui/t/stream"))).status).toBe(204);
    await chat.addToolApprovalResponse({ id: "1.1.0", approved: true });
    await chat.addToolApprovalResponse({ id: "1.1.1", approved: false, reason: "too much" });
    await expect.poll(() => textsOf(chat.messages)).toEqual(["Pay.", "Paid once."]);
    expect(chat.lastMessage?.parts).toMatchObject([
      {},
      { state: "output-available", output: "paid", approval: { approved: true } },
      { state: "output-denied", approval: { approved: false, reason: "too much" } },
      {},
      { type: "text" },
    ]);
    await expect.poll(() => chat.status).toBe("ready");
    expect(keptOf(await painted(server))).toEqual(keptOf(chat.messages));
    const [, answered] = await painted(server);
    expect(answered?.parts[2]).toMatchObject({ approval: { approved: false, reason: "too much" } });
  });

  test("that sends an answer again is told once another page has continued the thread", async () => {
    const { server } = served([toolCalls([{ name: "seat", arguments: {} }]), reply("12C."), reply("A window.")]);
    const chat = new Chat({
      server,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolCallId } }) =>
        void chat.addToolOutput({ tool: "seat", toolCallId, output: { row: 12 } }),
    });
    await chat.sendMessage({ text: "Where do I sit?" });
    await expect.poll(() => textsOf(chat.messages)).toEqual(["Where do I sit?", "12C."]);
    const again = async (): Promise<string> =>
      (await server.fetch(post("/ui", { id: "t", messages: chat.messages }))).text();
    expect(await again()).not.toContain("data-differs");
    await new Chat({ server, messages: [...(await painted(server))] }).sendMessage({ text: "By the window?" });
    expect(await again()).toContain("newer messages");
  });

  const signed = { id: "", approved: true, signature: "x" };
  const unsigned = [true, false].flatMap((approved) => ["1.1.0", ""].map((id) => ({ id, approved })));

  test.each([
    { kind: "changed", words: "digest", calls: 1, answer: () => signed },
    ...unsigned.map((approval) => ({ kind: "refused", words: "signature", calls: 1, answer: () => approval })),
    {
      kind: "refused",
      words: "1.1.1",
      calls: 2,
      answer: (asked: object, id: string) =>
        id === "1.1.0" ? { ...asked, approved: true } : { id: "1.1.1", approved: true },
    },
  ])(
    "that was not shown all that it approves answers no approval: %#, $words",
    async ({ kind, words, calls, answer }) => {
      const { host, server, reported } = served([
        toolCalls(Array.from({ length: calls }, () => ({ name: "pay", arguments: {} }))),
      ]);
      const chat = new Chat({ server });
      await chat.sendMessage({ text: "Pay." });
      const [user, asked] = chat.messages;
      const parts = asked?.parts.map((part) =>
        "approval" in part && part.approval !== undefined
          ? { ...part, state: "approval-responded", approval: answer(part.approval, part.approval.id) }
          : part,
      );
      const response = await server.fetch(post("/ui", { id: "t", messages: [user, { ...asked, parts }] }));
      expect(await pageErrorOf(response)).toMatchObject({ status: 400, kind });
      expect(reported).toEqual([expect.stringContaining(words)]);
      expect(await host.thread("t").approvals()).toHaveLength(calls);
    },
  );

  test("that was shown another version of a tool does not approve the one that is asked about now", async () => {
    const ran: string[] = [];
    const versioned = (version: string) =>
      tool({
        name: "pay",
        description: "Pays.",
        version,
        input: { jsonSchema: { type: "object" } },
        approval: "always",
        run: () => void ran.push(version),
      });
    const first = stage([toolCalls([{ name: "pay", arguments: {} }])], { tools: [versioned("1")] });
    const chat = new Chat({ server: threadServer(first.host) });
    await chat.sendMessage({ text: "Pay." });
    await first.host.close();
    const { host } = stage([reply("Paid.")], { store: first.store, tools: [versioned("2")] });
    const { server, reported } = watchedServer({ host });
    const page = new Chat({ server, messages: chat.messages });
    await page.addToolApprovalResponse({ id: "1.1.0", approved: true });
    await page.sendMessage();
    // The approval is asked for again, with the new version.
    expect(ran).toEqual([]);
    await expect.poll(async () => (await host.thread("t").approvals()).map(({ version }) => version)).toEqual(["2"]);
    const old = await server.fetch(post("/ui", { id: "t", messages: chat.messages.map(approvedAsShown) }));
    expect(old.status).toBe(400);
    expect(reported).toEqual([expect.stringContaining("digest")]);
    const now = new Chat({ server, messages: [...(await painted(server))] });
    await now.addToolApprovalResponse({ id: "1.1.0", approved: true });
    await now.sendMessage();
    expect(ran).toEqual(["2"]);
    expect(textsOf(now.messages).at(-1)).toBe("Paid.");
    await host.close();
  });

  test("has an answer made again, and a question edited, as branches", async () => {
    const { host, server } = served([reply("Hi."), reply("Hi again."), reply("And again."), reply("Good day.")]);
    const chat = new Chat({ server });
    await chat.sendMessage({ text: "Hello?" });
    await chat.regenerate();
    expect(textsOf(chat.messages)).toEqual(["Hello?", "Hi again."]);
    await chat.regenerate({ messageId: chat.lastMessage?.id ?? "" });
    expect(textsOf(chat.messages)).toEqual(["Hello?", "And again."]);
    await chat.sendMessage({ text: "Good day?", messageId: chat.messages[0]?.id ?? "" });
    expect(textsOf(chat.messages)).toEqual(["Good day?", "Good day."]);
    expect(keptOf(await painted(server))).toEqual(keptOf(chat.messages));
    const state = await host.thread("t").state();
    expect(state?.context.conversation).toMatchObject({ head: 4 });
  });

  test("stops a turn that another process runs", async () => {
    const { host, another } = stage([never({ pieces: [{ text: "One" }] })]);
    const chat = new Chat({ server: threadServer(host) });
    const sent = chat.sendMessage({ text: "Count." });
    await expect.poll(() => textsOf(chat.messages)).toEqual(["Count.", "One"]);
    const other = another();
    const stopped = await threadServer(other.host).fetch(post("/ui/t/stop", {}));
    expect(await stopped.json()).toEqual({ stopped: true });
    await sent;
    expect(chat.lastMessage?.metadata).toMatchObject({ turn: 1, status: "cancelled" });
    await Promise.all([host.close(), other.host.close()]);
  });

  test("stops a turn, and does not begin it again by itself", async () => {
    const { server } = served([toolCalls([{ name: "echo", arguments: {} }]), never({ pieces: [{ text: "One" }] })]);
    const chat = new Chat({ server, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls });
    const sent = chat.sendMessage({ text: "Count." });
    await expect.poll(() => textsOf(chat.messages)).toEqual(["Count.", "One"]);
    expect(await (await server.fetch(post("/ui/t/stop", {}))).json()).toEqual({ stopped: true });
    await sent;
    expect(chat.status).toBe("ready");
    expect(chat.lastMessage?.metadata).toMatchObject({ turn: 1, status: "cancelled" });
    expect(await (await server.fetch(post("/ui/t/stop", {}))).json()).toEqual({ stopped: false });
  });

  test.each([[null], ["[1]"], ["a\nb"], [[1, { of: "it" }]], [false], ["5"]])(
    "finds the output %j of its tool as it gave it",
    async (output) => {
      const { server } = served([toolCalls([{ name: "seat", arguments: {} }]), reply("I see.")]);
      const chat = new Chat({ server });
      await chat.sendMessage({ text: "Where do I sit?" });
      await chat.addToolOutput({ tool: "seat", toolCallId: "1.1.0", output });
      await chat.sendMessage();
      expect(chat.messages[1]?.parts).toMatchObject([{}, { output }, {}, { text: "I see." }]);
      expect(keptOf(await painted(server))).toEqual(keptOf(chat.messages));
    },
  );

  test("gives the model no half of a surrogate pair in an output, not even as an escape", async () => {
    const { host, server } = served([toolCalls([{ name: "seat", arguments: {} }]), reply("I see.")]);
    const chat = new Chat({ server });
    await chat.sendMessage({ text: "Where do I sit?" });
    await chat.addToolOutput({ tool: "seat", toolCallId: "1.1.0", output: { row: "12\ud83d" } });
    await chat.sendMessage();
    const result = await host.thread("t").look((state) => messagesOf(state).findLast(({ role }) => role === "tool"));
    expect(result?.parts).toMatchObject([{ content: [{ text: '{"row":"12\ufffd"}' }] }]);
  });

  test("that sends itself what brings no answer is refused, lest it do so for ever", async () => {
    const { server, reported } = served([toolCalls([{ name: "seat", arguments: {} }])]);
    const chat = new Chat({ server });
    await chat.sendMessage({ text: "Where do I sit?" });
    const response = await server.fetch(post("/ui", { id: "t", messages: chat.messages }));
    expect(await pageErrorOf(response)).toMatchObject({ status: 400, kind: "refused" });
    expect(reported).toEqual([expect.stringContaining("waits for answers")]);
  });

  test("is shown no answer that was refused, while another is awaited", async () => {
    const { host, server } = served([reply("Five."), never()]);
    const output = { name: "count", mode: "prompted", schema: { jsonSchema: { type: "object" } } } as const;
    host.ask("How many?", { threadId: "t", output }).catch(() => {});
    await expect.poll(async () => JSON.stringify(await host.thread("t").exportJournal())).toContain("output.refused");
    expect(textsOf(await painted(server))).toEqual(["How many?"]);
  });
});

describe("what is posted", () => {
  const hello = { id: "m1", role: "user", parts: [{ type: "text", text: "Hello?" }] };

  test("twice is one ask, and has one stream", async () => {
    const { host, server } = served([reply("Hi.")]);
    const body = { id: "t", messages: [hello], trigger: "submit-message" };
    const [first, second] = await Promise.all([server.fetch(post("/ui", body)), server.fetch(post("/ui/t", body))]);
    expect(await second.text()).toBe(await first.text());
    const again = await (await server.fetch(post("/ui", body))).text();
    expect(again).toContain('"delta":"Hi."');
    expect(await host.thread("t").asks()).toHaveLength(1);
  });

  test("is not answered if the store fails, and the operator is told why", async () => {
    const { store, server, reported } = served([reply("Hi.")]);
    vi.spyOn(store, "append").mockRejectedValue(new Error("the disk is full"));
    const response = await server.fetch(post("/ui", { id: "t", messages: [hello] }));
    await expect(response.text()).rejects.toThrow("the stream broke off");
    expect(reported).toEqual([expect.stringContaining("the disk is full")]);
  });

  test("says nothing to providers that is not a person's to say", async () => {
    const { host, server } = served([reply("Hi.")]);
    const parts = [{ type: "text", text: "Hello?", providerMetadata: { openai: { store: true } } }];
    await (await server.fetch(post("/ui/t", { messages: [{ ...hello, parts }] }))).text();
    expect(JSON.stringify(await host.thread("t").exportJournal())).not.toContain("openai");
  });

  test.each([
    ["no message", { id: "t", messages: [] }, "messages"],
    ["no id", { messages: [hello] }, "id"],
    ["an id that is none", { id: "../x", messages: [hello] }, "id"],
    ["a message that says nothing", { id: "t", messages: [{ ...hello, parts: [] }] }, "messages"],
    ["a part that is none", { id: "t", messages: [{ ...hello, parts: [{ type: "text" }] }] }, "messages"],
    ["a message without an id", { id: "t", messages: [{ ...hello, id: "" }] }, "messages"],
    ["a system message", { id: "t", messages: [{ ...hello, role: "system" }] }, "messages"],
    ["an unknown trigger", { id: "t", messages: [hello], trigger: "resume-stream" }, "trigger"],
  ])("is refused, and the operator is told why: %s", async (_, body, member) => {
    const { server, reported } = served([]);
    const response = await server.fetch(post("/ui", body));
    expect(await pageErrorOf(response)).toMatchObject({ status: 400, kind: "refused" });
    expect(reported).toEqual([expect.stringContaining(member)]);
  });

  test("to a thread of somebody else finds none", async () => {
    const { host } = stage([]);
    const server = threadServer(host, { mayUse: (_, threadId) => threadId === "mine" });
    for (const request of [
      post("/ui", { id: "t", messages: [hello] }),
      at("/ui/t/stream"),
      at("/ui/t/messages"),
      post("/ui/t/stop", {}),
    ])
      expect((await server.fetch(request)).status).toBe(404);
    expect(await (await server.fetch(at("/ui/mine/messages"))).json()).toEqual([]);
    await host.close();
  });
});

const approvedAsShown = (message: UIMessage): UIMessage => ({
  ...message,
  // The SDK changes an approval so.
  parts: message.parts.map((part) =>
    "approval" in part && part.approval !== undefined
      ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
      : part,
  ) as UIMessage["parts"],
});

const lost = { state: "output-error", errorText: "it stands" } as const;

const picture = "data:image/png;base64,iVBORw0KGgo=";
