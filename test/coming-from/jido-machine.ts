import {
  conversationMachine,
  type Event,
  lastTurnOf,
  messagesOf,
  outstanding,
  phaseOf,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { createHost, type HostOptions, LimitReachedError, memoryStore, tool } from "@colloquy/runtime-node";
import { never, reply, scriptedModel, type ScriptLine, toolCalls } from "@colloquy/runtime-test/models";
import { virtualClock } from "@colloquy/runtime-test";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import { z } from "zod";
import { closing, type Rows } from "./parts.ts";

/** Makes a tool that returns a city's weather, and records the context of each run. */
const weatherTool = (contexts: object[] = []) =>
  tool({
    name: "weather_by_location",
    description: "The weather.",
    input: z.object({ city: z.string() }),
    run: ({ city }, { toolContext }) => {
      contexts.push(toolContext);
      return `52°F in ${city}`;
    },
  });

/** The usage without the total, which is the sum. */
export const counted = { inputTokens: 2100, outputTokens: 300 };
export const usage = { ...counted, totalTokens: 2400 };
const called = toolCalls([{ name: "weather_by_location", arguments: { city: "Seattle" } }], { usage });

/** Makes a host whose model follows this script. */
export const hostOf = (script: readonly ScriptLine[], options: Partial<HostOptions> = {}) =>
  closing(createHost({ llm: scriptedModel(script), store: memoryStore(), tools: [weatherTool()], ...options }));

const asking: Rows = {
  "Jido.start_agent(JidoAi.CliJido, WeatherAgent)": async () => {
    const llm = scriptedModel([reply("It's 52°F.")]);
    const weather = weatherTool();
    const store = memoryStore();
    const host = closing(createHost({ llm, store, tools: [weather], system: "You tell the weather." }));
    expect((await host.ask("What's the weather in Seattle?")).text).toBe("It's 52°F.");
    expect(llm.calls[0]?.tools?.map(({ name }) => name)).toEqual(["weather_by_location"]);
  },
  "adapter.start_agent(JidoAi.CliJido, agent_module, config)": async () => {
    const host = closing(createHost({ llm: scriptedModel([reply("52°F")]), store: memoryStore() }));
    expect((await host.ask("Seattle?")).text).toBe("52°F");
  },
  ReActAgent: async () => {
    const llm = scriptedModel([called, reply("It's 52°F.")]);
    const weather = weatherTool();
    const store = memoryStore();
    const host = closing(createHost({ llm, store, tools: [weather] }));
    const { text, messages } = await host.ask("What's the weather in Seattle?");
    expect([text, messages.map(({ role }) => role)]).toEqual([
      "It's 52°F.",
      ["user", "assistant", "tool", "assistant"],
    ]);
  },
  "WeatherAgent.ask(pid, query)": async () => {
    const host = hostOf([reply("It's 52°F.")]);
    const query = "What's the weather in Seattle?";
    const request = host.ask(query);
    expect((await request).text).toBe("It's 52°F.");
  },
  "adapter.submit(pid, query, config)": async () => {
    const host = hostOf([reply("It's 52°F.")]);
    const query = "What's the weather in Seattle?";
    const request = host.ask(query, { limits: { steps: 10 } });
    expect((await request).turn).toBe(1);
  },
  "WeatherAgent.await(req, timeout: 30_000)": async () => {
    const clock = virtualClock();
    const host = hostOf([never()], { clock });
    const request = host.ask("What's the weather in Seattle?", { limits: { deadlineMs: 30_000 } });
    for await (const part of request) if (part.type === "step.started") await clock.advance(30_000);
    await expect(request).rejects.toThrow(LimitReachedError);
  },
  "adapter.await(pid, config.timeout, config)": async () => {
    const host = hostOf([reply("52°F")]);
    const request = host.ask("Seattle?", { askId: "req-abc" });
    // Another process awaits it by its id.
    const { text } = await host.thread().rejoin("req-abc");
    expect([text, (await request).text]).toEqual(["52°F", "52°F"]);
  },
  "adapter.stop(pid)": async () => {
    const store = memoryStore();
    const host = hostOf([reply("52°F")], { store });
    await host.ask("Seattle?");
    await host.close();
    // The thread outlives the host that answered.
    const next = hostOf([reply("55°F", { expects: ({ messages }) => messages.length === 3 })], { store });
    expect((await next.ask("What about tomorrow?")).text).toBe("55°F");
  },
  "RequestTracking.create_and_send": async () => {
    const host = hostOf([reply("52°F"), reply("never")]);
    const [one, again] = [host.ask("Seattle?", { askId: "req-abc" }), host.ask("Seattle?", { askId: "req-abc" })];
    // The same id is the same request.
    expect([(await one).turn, (await again).turn]).toEqual([1, 1]);
  },
  "RequestTracking.await": async () => {
    const host = hostOf([reply("52°F")]);
    const request = host.ask("Seattle?");
    expect((await request).text).toBe("52°F");
  },
  "query, status, timestamps, result": async () => {
    const host = hostOf([reply("52°F")]);
    await host.ask("Seattle?", { threadId: "chat-123", askId: "req-abc" });
    const request = await host.thread("chat-123").asked("req-abc");
    expect(request).toMatchObject({ status: "completed", turn: 1, outcome: { status: "completed" } });
    expect(request?.askedAt).toBeLessThanOrEqual(request?.endedAt ?? 0);
  },
  "agent.state.requests": async () => {
    const host = hostOf([reply("52°F"), reply("55°F")]);
    for (const text of ["Seattle?", "Tomorrow?"]) await host.ask(text);
    expect((await host.thread().asks()).map(({ status }) => status)).toEqual(["completed", "completed"]);
  },
  "agent.state.model": async () => {
    const llm = scriptedModel([reply("52°F")]);
    await hostOf([], { llm }).ask("Seattle?", { model: { model: "gpt-4o-mini" } });
    expect(llm.calls[0]?.model).toEqual({ model: "gpt-4o-mini" });
  },
  "agent.state.last_answer": async () => {
    const { text } = await hostOf([reply("52°F")]).ask("Seattle?");
    expect(text).toBe("52°F");
  },
  "agent.state.completed": async () => {
    const host = hostOf([reply("52°F")]);
    await host.ask("Seattle?");
    const state = await host.thread().state();
    expect(state !== null && phaseOf(state) === "completed").toBe(true);
  },
  "on_before_cmd/2": async () => {
    const turns: number[] = [];
    const host = hostOf([reply("52°F")], { hooks: { beforeTurn: ({ turn }) => void turns.push(turn) } });
    await host.ask("Seattle?");
    expect(turns).toEqual([1]);
  },
  "on_after_cmd/3": async () => {
    const ended: string[] = [];
    const host = hostOf([reply("52°F")], { hooks: { afterTurn: ({ turn }) => void ended.push(turn.outcome.status) } });
    await host.ask("Seattle?");
    expect(ended).toEqual(["completed"]);
  },
  "tool_context (base)": async () => {
    const contexts: object[] = [];
    const host = hostOf([called, reply("52°F")], { tools: [weatherTool(contexts)], toolContext: { region: "us" } });
    await host.ask("Seattle?");
    expect(contexts).toEqual([{ region: "us" }]);
  },
  "tool_context (run-scoped)": async () => {
    const contexts: object[] = [];
    const host = hostOf([called, reply("52°F")], { tools: [weatherTool(contexts)], toolContext: { region: "us" } });
    await host.ask("Seattle?", { toolContext: { user: "ada" } });
    expect(contexts).toEqual([{ region: "us", user: "ada" }]);
  },
};

const machine = conversationMachine({ tools: [weatherTool().declaration] });
const begun = start(machine, { threadId: "t", system: "You tell the weather.", at: 0 }).state;

/** Returns the state after these events. */
const after = (...events: readonly Event[]): State =>
  events.reduce((state, event) => {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    return step.state;
  }, begun);

const started: Event = { type: "ask.received", askId: "a", input: "Seattle?", at: 1 };
const answered: Event = {
  type: "llm.completed",
  effectId: "t/1.1#1",
  reply: { content: "52°F" },
  finishReason: "stop",
  at: 2,
};
const calls: Event = {
  type: "llm.completed",
  effectId: "t/1.1#1",
  reply: { toolCalls: [{ id: null, name: "weather_by_location", arguments: '{"city":"Seattle"}' }] },
  finishReason: "tool_calls",
  at: 2,
};
const failed: Event = {
  type: "llm.failed",
  effectId: "t/1.1#1",
  failure: { kind: "auth", message: "no key", retryable: false },
  at: 2,
};

const machineRows: Rows = {
  "Machine.update(machine, {:start, query, call_id}, env)": () => {
    const event: Event = { type: "ask.received", askId: "a", input: "Seattle?", at: 1 };
    const step = transition(machine, begun, event);
    expect(step.handled && step.effects.map(({ type }) => type)).toEqual(["publish", "callLlm"]);
    // The next ask continues the conversation.
    const next = after(started, answered, { ...started, askId: "b", input: "Tomorrow?", at: 3 });
    expect(messagesOf(next).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  },
  "Machine.from_map(…)": async () => {
    const host = hostOf([reply("52°F")]);
    await host.ask("Seattle?");
    const entries = await host.thread().exportJournal();
    const folded = fold(entries);
    expect(Either.isRight(folded) && phaseOf(folded.right)).toBe("completed");
  },
  "Strategy.process/3": () => {
    const step = transition(machine, begun, started);
    if (!step.handled) throw new Error(step.refusal.reason);
    expect(step.entry.event).toMatchObject({ type: "ask.received" });
    expect(outstanding(step.state)).toMatchObject([{ type: "callLlm", id: "t/1.1#1" }]);
  },
  "signal_routes: user_query → :react_start": async () => {
    const host = hostOf([reply("52°F")]);
    await host.thread().start();
    await host.thread().send({ type: "ask.received", askId: "a", input: "Seattle?", at: 1 });
    expect((await host.thread().rejoin("a")).text).toBe("52°F");
  },
  'status: "idle"': () => {
    expect(phaseOf(begun) === "idle").toBe(true);
  },
  'status: "awaiting_llm"': () => {
    expect(phaseOf(after(started)) === "awaiting_llm").toBe(true);
  },
  'status: "awaiting_tool"': () => {
    expect(phaseOf(after(started, calls)) === "awaiting_tool").toBe(true);
  },
  'status: "completed"': () => {
    expect(phaseOf(after(started, answered)) === "completed").toBe(true);
  },
  'status: "error"': () => {
    const state = after(started, failed);
    expect(phaseOf(state) === "error").toBe(true);
    // The next ask begins a turn, and every call has a result.
    expect(phaseOf(after(started, failed, { ...started, askId: "b", at: 3 }))).toBe("awaiting_llm");
  },
  "conversation[]": () => {
    const state = after(started, answered);
    expect(messagesOf(state).map(({ role }) => role)).toEqual(["user", "assistant"]);
  },
  "pending_tool_calls[]": () => {
    const state = after(started, calls);
    expect(outstanding(state)).toMatchObject([{ type: "callTool", name: "weather_by_location" }]);
  },
  "usage{}": async () => {
    const { usage } = await hostOf([called, reply("52°F", { usage: { inputTokens: 100, outputTokens: 50 } })]).ask(
      "Seattle?",
    );
    expect([usage.inputTokens.sum, usage.outputTokens.sum]).toEqual([2200, 350]);
  },
  iteration: async () => {
    const host = hostOf([called, reply("52°F")]);
    await host.ask("Seattle?");
    const turn = await host.thread().look(lastTurnOf);
    expect(turn?.steps).toBe(2);
  },
};

/** Returns the types of the signals and parts of a turn with a tool call. */
const heard = async () => {
  const signals: string[] = [];
  const host = hostOf([called, reply("52°F")], { observers: [{ signal: ({ type }) => void signals.push(type) }] });
  const parts: string[] = [];
  for await (const part of host.ask("Seattle?")) parts.push(part.type);
  return { signals, parts };
};

const telemetry: Rows = {
  "[:jido, :ai, :react, :start]": async () => {
    expect((await heard()).signals.filter((type) => type === "turn.started")).toHaveLength(1);
  },
  "[:jido, :ai, :react, :iteration]": async () => {
    expect((await heard()).parts.filter((type) => type === "step.started")).toHaveLength(2);
  },
  "[:jido, :ai, :react, :complete]": async () => {
    expect((await heard()).signals.filter((type) => type === "turn.ended")).toHaveLength(1);
  },
};

/** The rows of asking, the machine and telemetry. */
export const machineTables: readonly Rows[] = [asking, machineRows, telemetry];
