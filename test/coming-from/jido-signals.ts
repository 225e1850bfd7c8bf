import type { Signal } from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect } from "vitest";
import { counted, hostOf, usage } from "./jido-machine.ts";
import { closing, type Rows } from "./parts.ts";

const [seattle, tomorrow] = ["What's the weather in Seattle?", "What about tomorrow?"];

/** Makes a host with room for 90 tokens, and records its warnings. */
export const filling = (warnAt: number, ...answers: readonly string[]) => {
  const warnings: Extract<Signal, { readonly type: "context.warning" }>[] = [];
  const host = closing(
    createHost({
      machine: { budget: { tokens: 100, reserve: 10 }, warnAt },
      llm: scriptedModel(["A", ...answers].map((text) => reply(text))),
      store: memoryStore(),
      observers: [{ signal: (signal) => signal.type === "context.warning" && warnings.push(signal) }],
    }),
  );
  return { host, warnings };
};

/** The rows of signals. */
export const signals: Rows = {
  "react.user_query {query, request_id, thread_id}": async () => {
    const thread = hostOf([reply("60°F")]).thread("chat-123");
    await thread.ask("And then?", { askId: "req-abc" });
    const events = (await thread.exportJournal()).map(({ event }) => event);
    expect(events).toContainEqual(expect.objectContaining({ type: "ask.received", askId: "req-abc" }));
  },
  "reqllm.result {call_id, result, usage}": async () => {
    const thread = hostOf([reply("52°F", { usage })]).thread("chat-123");
    await thread.ask(seattle);
    const events = (await thread.exportJournal()).map(({ event }) => event);
    const [result] = events.filter((event) => event.type === "llm.completed");
    expect(result).toMatchObject({ effectId: "chat-123/1.1#1", reply: { content: "52°F" }, usage: counted });
  },
  "reqllm.partial {call_id, delta}": async () => {
    let text = "";
    for await (const part of hostOf([reply("It's 52°F.")]).ask(seattle))
      if (part.type === "text.delta") text += part.text;
    expect(text).toBe("It's 52°F.");
  },
  "ai.tool_result {call_id, tool_name, result}": async () => {
    const calls = toolCalls([{ name: "weather_by_location", arguments: { city: "Seattle" } }]);
    const results: unknown[] = [];
    for await (const part of hostOf([calls, reply("52°F")]).ask(seattle))
      if (part.type === "toolResult") results.push([part.callId, part.name, part.content]);
    expect(results).toEqual([[expect.any(String), "weather_by_location", "52°F in Seattle"]]);
  },
  "ai.usage_report {call_id, model, tokens}": async () => {
    const seen: unknown[] = [];
    const signal = (signal: Signal) =>
      signal.type === "model.replied" && seen.push([signal.turn, signal.step, signal.model, signal.usage]);
    const host = hostOf([reply("52°F", { model: "gpt-4o-mini", usage })], { observers: [{ signal }] });
    await host.ask(seattle);
    expect(seen).toEqual([[1, 1, "gpt-4o-mini", counted]]);
  },
  "react.session_updated, ai.thread_updated (Jido.AI.Signal.ThreadUpdated)": async () => {
    expect((await updates()).map(({ signal }) => signal.type)).toEqual(["thread.updated", "thread.updated"]);
  },
  "ai.thread_updated: thread_id": async () => {
    const ids = new Set((await updates()).map(({ threadId }) => threadId));
    expect([...ids]).toEqual(["chat-123"]);
  },
  "ai.thread_updated: message_count": async () => {
    expect((await updates()).map(({ signal }) => signal.messages)).toEqual([2, 4]);
  },
  "ai.thread_updated: usage_total": async () => {
    expect((await updates()).map(({ signal }) => signal.usage.inputTokens.sum)).toEqual([2100, 4200]);
  },
  'default_source: "/ai/thread"': async () => {
    const ids: string[] = [];
    const observers = [{ signal: (_: Signal, threadId: string) => void ids.push(threadId) }];
    await hostOf([reply("52°F")], { observers }).ask(seattle, { threadId: "chat-123" });
    expect(new Set(ids)).toEqual(new Set(["chat-123"]));
  },
  "react.context_warning, ai.context_warning (Jido.AI.Signal.ContextWarning)": async () => {
    const { host, warnings } = filling(0.5);
    await host.ask("Q".repeat(200));
    expect(warnings).toMatchObject([{ type: "context.warning" }]);
  },
  "ai.context_warning: thread_id": async () => {
    const ids: string[] = [];
    const signal = ({ type }: Signal, threadId: string) => type === "context.warning" && ids.push(threadId);
    const machine = { budget: { tokens: 100, reserve: 10 }, warnAt: 0.5 };
    await hostOf([reply("A")], { machine, observers: [{ signal }] }).ask("Q".repeat(200), { threadId: "chat-123" });
    expect(ids).toEqual(["chat-123"]);
  },
  "ai.context_warning: message_count": async () => {
    const { host, warnings } = filling(0.5);
    await host.ask("Q".repeat(200));
    expect(warnings[0]?.messages).toBe(1);
  },
  "ai.context_warning: estimated_tokens": async () => {
    const { host, warnings } = filling(0.5);
    await host.ask("Q".repeat(200));
    expect([warnings[0]?.available, (warnings[0]?.tokens ?? 0) > 45]).toEqual([90, true]);
  },
  "ai.context_warning: warning: :approaching_limit": async () => {
    const { host, warnings } = filling(0.5);
    await host.ask("Q".repeat(200));
    expect(warnings[0]?.warning === "approaching_limit").toBe(true);
  },
  "ai.context_warning: warning: :at_limit": async () => {
    const { host, warnings } = filling(0.5);
    await expect(host.ask("Q".repeat(2_000))).rejects.toThrow(/does not fit|tokens/);
    expect(warnings[0]?.warning === "at_limit").toBe(true);
  },
};

/** Returns the signals about a thread that two asks published. */
const updates = async () => {
  const seen: { readonly threadId: string; readonly signal: Extract<Signal, { readonly type: "thread.updated" }> }[] =
    [];
  const signal = (signal: Signal, threadId: string) =>
    signal.type === "thread.updated" && seen.push({ threadId, signal });
  const host = hostOf([reply("52°F", { usage }), reply("55°F", { usage })], { observers: [{ signal }] });
  for (const text of [seattle, tomorrow]) await host.ask(text, { threadId: "chat-123" });
  return seen;
};
