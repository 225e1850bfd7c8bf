import { join } from "node:path";
import { ConfigurationError, messagesOf, textOf } from "@colloquy/machine";
import { compactTurns, countPrompt, estimateCounter, lastMessages } from "@colloquy/machine/policies";
import { awaitMany, createHost, memoryStore, sqliteStore } from "@colloquy/runtime-node";
import { reply, ruleModel, scriptedModel } from "@colloquy/runtime-test/models";
import type { Signal } from "@colloquy/machine";
import { virtualClock } from "@colloquy/runtime-test";
import { expect } from "vitest";
import { folderOf } from "./command.ts";
import { hostOf, usage } from "./jido-machine.ts";
import { filling, signals } from "./jido-signals.ts";
import { closing, type Rows } from "./parts.ts";

const [seattle, tomorrow] = ["What's the weather in Seattle?", "What about tomorrow?"];

/** Returns a host that answered two questions on its thread `chat-123`. */
const talked = async (...[script = []]: Partial<Parameters<typeof hostOf>>) => {
  const host = hostOf([reply("52°F", { usage }), reply("55°F", { usage }), ...script]);
  const thread = host.thread("chat-123");
  await thread.ask(seattle);
  await thread.ask(tomorrow);
  return { host, thread };
};

const threads: Rows = {
  'ask(pid, "What about tomorrow?", thread_id: "chat-123")': async () => {
    const { host, thread } = await talked([reply("60°F", { expects: ({ messages }) => messages.length === 5 })]);
    expect((await host.ask("And then?", { threadId: "chat-123" })).turn).toBe(3);
    expect(await thread.look((state) => messagesOf(state).length)).toBe(6);
  },
  'ask(pid, "New question", thread_id: :new)': async () => {
    const { host } = await talked([reply("New", { expects: ({ messages }) => messages.length === 1 })]);
    const { threadId } = await host.ask("New question", { threadId: "new" });
    expect(["new", "chat-123"]).not.toContain(threadId);
  },
  'ask(pid, "Question")': async () => {
    const host = hostOf([reply("A")]);
    expect((await host.ask("Question")).threadId).toBe("default");
  },
  "Jido.AI.Thread": async () => {
    const { host } = await talked();
    const thread = host.thread("chat-123");
    expect(await thread.look(messagesOf)).toHaveLength(4);
  },
  "id: nil": async () => {
    const { thread } = await talked();
    expect(thread.id).toBe("chat-123");
  },
  "conversation: []": async () => {
    const { thread } = await talked();
    const texts = await thread.look((state) => messagesOf(state).map(textOf));
    expect(texts).toEqual([seattle, "52°F", tomorrow, "55°F"]);
  },
  "usage_total: %{input_tokens: 0, output_tokens: 0}": async () => {
    const { thread } = await talked();
    const total = (await thread.figures())?.usage;
    expect([total?.inputTokens.sum, total?.outputTokens.sum]).toEqual([4200, 600]);
  },
  input_tokens: async () => {
    const { thread } = await talked();
    const total = (await thread.figures())?.usage;
    expect(total?.inputTokens).toEqual({ sum: 4200, reported: 2, unreported: 0 });
  },
  output_tokens: async () => {
    const { thread } = await talked();
    const total = (await thread.figures())?.usage;
    expect(total?.outputTokens.sum).toBe(600);
  },
  "message_count: 0": async () => {
    const { thread } = await talked();
    expect((await thread.figures())?.messages).toBe(4);
  },
  "created_at: nil": async () => {
    const clock = virtualClock(1_000);
    const host = hostOf([reply("52°F")], { clock, store: memoryStore({ clock }) });
    await host.ask(seattle);
    const [stored] = (await host.threads()).threads;
    expect(stored?.createdAt).toBe(1_000);
  },
  "updated_at: nil": async () => {
    const clock = virtualClock(1_000);
    const host = hostOf([reply("52°F"), reply("55°F")], { clock, store: memoryStore({ clock }) });
    await host.ask(seattle);
    await clock.advance(500);
    await host.ask(tomorrow);
    const [stored] = (await host.threads()).threads;
    expect([stored?.createdAt, stored?.updatedAt]).toEqual([1_000, 1_500]);
  },
  "metadata: %{}": async () => {
    const { host, thread } = await talked();
    await thread.setMetadata({ title: "Weather" });
    const found = await host.threads({ metadata: { title: "Weather" } });
    expect(found.threads.map(({ threadId }) => threadId)).toEqual(["chat-123"]);
  },
  "Thread.new(id \\\\ nil)": async () => {
    const host = hostOf([]);
    await host.thread("chat-123").start({ system: "You tell the weather." });
    expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(["chat-123"]);
  },
  "Thread.append_conversation(thread, messages)": async () => {
    const { thread } = await talked();
    await thread.addTurn([
      { role: "user", content: "And Paris?" },
      { role: "assistant", content: "18°C" },
    ]);
    expect((await thread.figures())?.messages).toBe(6);
  },
  "Thread.accumulate_usage(thread, usage)": async () => {
    const { thread } = await talked([reply("60°F", { usage: { inputTokens: 10 } })]);
    const { usage } = await thread.ask("And then?");
    // Usage that the model does not report counts as unreported.
    expect([usage.inputTokens.sum, usage.outputTokens]).toEqual([10, { sum: 0, reported: 0, unreported: 1 }]);
    expect((await thread.figures())?.usage.inputTokens.sum).toBe(4210);
  },
  "generate_id()": async () => {
    const host = hostOf([reply("A")], { ids: { draw: (kind) => `${kind}_1` } });
    expect((await host.ask("Q", { threadId: "new" })).threadId).toBe("thread_1");
  },
  "threads: %{…}": async () => {
    const { host } = await talked([reply("A")]);
    await host.ask("Q");
    const { threads } = await host.threads({ order: "oldest" });
    expect(threads.map(({ threadId }) => threadId)).toEqual(["chat-123", "default"]);
  },
  'current_thread_id: "default"': async () => {
    const host = hostOf([reply("A")], { defaultThread: "chat-123" });
    expect((await host.ask("Q")).threadId).toBe("chat-123");
  },
  "get_thread(state, thread_id)": async () => {
    const { host } = await talked();
    const state = await host.thread("chat-123").state();
    expect(state?.context.threadId).toBe("chat-123");
    expect(await host.thread("nowhere").state()).toBeNull();
  },
  "put_thread(state, thread_id, thread), update_thread(thread, machine)": async () => {
    const { thread } = await talked();
    // Each step is stored before its effects are performed.
    const entries = await thread.exportJournal();
    expect(entries.map(({ event }) => event.type).filter((type) => type === "llm.completed")).toHaveLength(2);
  },
};

/** Returns a host with this policy that answered `turns` questions, and the numbers of messages that its model saw. */
const longTalk = async (policy: ReturnType<typeof lastMessages>, turns: number) => {
  const seen: number[] = [];
  const host = closing(
    createHost({
      machine: { policy },
      llm: async ({ messages }) => {
        seen.push(messages.length);
        return { type: "completed", reply: { content: "A" }, finishReason: "stop" };
      },
      store: memoryStore(),
      system: "S",
    }),
  );
  for (let turn = 1; turn <= turns; turn++) await host.ask(`Q${turn}`);
  return { host, seen };
};

const pruning: Rows = {
  "Thread.Pruning.prune(conversation, opts)": async () => {
    const { host, seen } = await longTalk(lastMessages({ max: 4, keepRecent: 2 }), 4);
    // These count the system message. Prompts show an answer only with its question. Of the newest two messages only
    // the open question fits, not the answer before it. The thread keeps all.
    expect(seen).toEqual([2, 4, 2, 4]);
    expect((await host.thread().figures())?.messages).toBe(8);
  },
  "max_messages: 50": async () => {
    const { seen } = await longTalk(lastMessages({ max: 50 }), 26);
    expect([seen.at(-2), seen.at(-1)]).toEqual([50, 1 + 9]);
  },
  "keep_system: true": async () => {
    const { seen } = await longTalk(lastMessages({ max: 2, keepRecent: 1, keepSystem: true }), 2);
    expect(seen).toEqual([2, 2]);
    expect((await longTalk(lastMessages({ max: 2, keepRecent: 1, keepSystem: false }), 2)).seen).toEqual([2, 1]);
  },
  "keep_recent: 10": async () => {
    const { seen } = await longTalk(lastMessages({ max: 12, keepRecent: 10 }), 7);
    expect(seen.at(-1)).toBe(1 + 9);
    expect(() => lastMessages({ keepRecent: -1 })).toThrow(ConfigurationError);
  },
};

const snapshot: Rows = {
  "Jido.AgentServer.status(pid)": async () => {
    const { thread } = await talked();
    const status = await thread.state();
    expect(status?.value).toBe("completed");
  },
  "status.raw_state.__strategy__": async () => {
    const { thread } = await talked();
    const state = await thread.state();
    expect(JSON.parse(JSON.stringify(state?.context))).toMatchObject({ threadId: "chat-123" });
  },
  "strategy_state.conversation |> Enum.each(…)": async () => {
    const { thread } = await talked();
    const state = await thread.state();
    if (state === null) throw new Error("there is no thread");
    const lines = messagesOf(state).map((message) => `${message.role}: ${textOf(message)}`);
    expect(lines.at(-1)).toBe("assistant: 55°F");
  },
  "IO.inspect(strategy_state.usage)": async () => {
    const { thread } = await talked();
    const used = await thread.look((state) => state.context.usage.total.totalTokens.sum);
    expect(used).toBe(4800);
  },
  "snapshot: conversation": async () => {
    const { thread } = await talked();
    expect((await thread.explain())?.units).toHaveLength(4);
  },
  "snapshot: usage": async () => {
    const { thread } = await talked();
    expect((await thread.figures())?.usage.totalTokens.sum).toBe(4800);
  },
  "conversation_length, conversation_message_count, thread_message_count": async () => {
    const { thread } = await talked();
    expect((await thread.figures())?.messages).toBe(4);
  },
  conversation_char_count: async () => {
    const { thread } = await talked();
    expect((await thread.figures())?.characters).toBe([seattle, "52°F", tomorrow, "55°F"].join("").length);
  },
  "context_tokens_estimate, context_size_estimate": async () => {
    const { thread } = await talked();
    expect((await thread.figures())?.tokens).toBeGreaterThan(10);
  },
  "estimate_tokens(thread.conversation)": async () => {
    const { thread } = await talked();
    const state = await thread.state();
    const tokens = state === null ? 0 : countPrompt(estimateCounter, messagesOf(state));
    expect(tokens).toBe((await thread.figures())?.tokens);
  },
  "session_usage_total, thread_usage_total": async () => {
    const { thread } = await talked();
    expect((await thread.figures())?.usage.inputTokens.sum).toBe(4200);
  },
  thread_id: async () => {
    const { thread } = await talked();
    expect((await thread.state())?.context.threadId).toBe("chat-123");
  },
  "context_warning: length(…) > warn_threshold": async () => {
    const { host, warnings } = filling(0.5);
    await host.ask("Q".repeat(200));
    expect((await host.thread().figures())?.share).toBeGreaterThan(0.5);
    expect(warnings).toHaveLength(1);
  },
  warn_threshold: async () => {
    const { host, warnings } = filling(0.9);
    await host.ask("Q".repeat(200));
    expect(warnings).toEqual([]);
    // The same room, with the share at which it warns.
    const machine = { budget: { tokens: 100, reserve: 10 }, warnAt: 0.5 };
    expect(createHost({ machine, llm: scriptedModel([]), store: memoryStore() }).machine).toBeDefined();
  },
};

const kept: Rows = {
  SessionStore: async () => {
    const store = memoryStore();
    await hostOf([reply("52°F")], { store }).ask(seattle);
    expect(
      await hostOf([], { store })
        .thread()
        .look((state) => messagesOf(state).length),
    ).toBe(2);
  },
  "DETS Implementation": async () => {
    const path = join(folderOf(), "threads.db");
    const store = closing(sqliteStore({ path }));
    const host = createHost({ llm: scriptedModel([reply("52°F")]), store });
    await host.ask(seattle);
    await host.close();
    const other = closing(sqliteStore({ path }));
    expect((await closing(createHost({ llm: scriptedModel([]), store: other })).threads()).threads).toHaveLength(1);
  },
  "Resume Support": async () => {
    const store = memoryStore();
    const broken = hostOf([reply("52°F")], { store });
    await broken.thread("chat-123").start();
    await broken.close();
    const recovered = Promise.withResolvers<unknown>();
    const host = hostOf([reply("55°F")], { store, observers: [{ recovered: recovered.resolve }] });
    host.start();
    expect(await recovered.promise).toEqual({ continued: [], left: [] });
    expect((await host.thread("chat-123").ask(tomorrow)).text).toBe("55°F");
  },
  "Export/Import": async () => {
    const { thread } = await talked();
    const entries: readonly unknown[] = JSON.parse(JSON.stringify(await thread.exportJournal()));
    const copy = await hostOf([]).importJournal(entries, { threadId: "copy" });
    expect(await copy.look((state) => messagesOf(state).length)).toBe(4);
  },
  Summarization: async () => {
    const llm = ruleModel([
      { name: "summary", when: ({ lastUserText }) => lastUserText.includes("Input:"), answer: () => "They asked." },
      { name: "answer", when: () => true, answer: () => "A" },
    ]);
    const policy = compactTurns({ keepTurns: 1, at: 0.3 });
    const machine = { policy, budget: { tokens: 400, reserve: 50 } };
    const done = Promise.withResolvers<void>();
    const observers = [{ signal: ({ type }: Signal) => type === "summary.completed" && done.resolve() }];
    const host = closing(createHost({ machine, llm, store: memoryStore(), observers }));
    for (const text of ["Q".repeat(300), "R".repeat(300)]) await host.ask(text);
    await done.promise;
    expect(JSON.stringify((await host.thread().explain())?.summary)).toContain("They asked.");
  },
  Branching: async () => {
    const { thread } = await talked([reply("60°F")]);
    const { thread: whatIf } = await thread.fork({ turn: 1 });
    await whatIf.ask("What if it rains?");
    expect([(await whatIf.figures())?.messages, (await thread.figures())?.messages]).toEqual([4, 4]);
  },
  "Multi-Thread Per Agent": async () => {
    const host = hostOf([reply("A"), reply("A")]);
    const both = await awaitMany([host.ask("Q", { threadId: "one" }), host.ask("Q", { threadId: "two" })]);
    expect(both.map(({ type, threadId }) => [type, threadId])).toEqual([
      ["result", "one"],
      ["result", "two"],
    ]);
  },
};

/** The rows of threads, pruning, snapshots, signals and storage. */
export const threadTables: readonly Rows[] = [threads, pruning, snapshot, signals, kept];
