import { getEventListeners } from "node:events";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import type { LlmDelta, LlmHandler } from "@colloquy/host";
import { promptFormat } from "@colloquy/interchange/templates";
import { describe, expect, test, vi } from "vitest";
import { aiSdkModel } from "../../src/llm/ai-sdk/index.ts";
import { openaiChat, openaiResponses, textCompletion } from "../../src/llm/openai.ts";
import { runningCall, type WaitOptions } from "../../src/llm/transport/running-call.ts";
import { callOf, perform, testClock } from "./call.ts";

/** Makes an answer whose pieces the test sends one by one. */
const drip = (type: string) => {
  let pulled = Promise.withResolvers<void>();
  let control: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start: (controller) => void (control = controller),
      pull: () => {
        pulled.resolve();
        return new Promise((resolve) => (goOn = resolve));
      },
    },
    { highWaterMark: 0 },
  );
  let goOn = (): void => {};
  return {
    // Like any fetch, it breaks off the body when aborted.
    fetch: async (_: unknown, init?: RequestInit): Promise<Response> => {
      init?.signal?.addEventListener("abort", () => control?.error(init.signal?.reason));
      return new Response(body, { headers: { "content-type": type } });
    },
    /** Sends a piece, and waits until the reader wants the next. */
    send: async (text: string): Promise<void> => {
      await pulled.promise;
      pulled = Promise.withResolvers();
      control?.enqueue(new TextEncoder().encode(text));
      goOn();
      await pulled.promise;
    },
  };
};

const marks = { role: "", role_sep: "", pre: "", suf: "" };
const template = promptFormat({ user: marks, agent: marks, system_prompt: marks, prompt: marks });
const base = { apiKey: "none", baseURL: "http://127.0.0.1:1/v1", model: "m" };
const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const ofChat = (choice: object): string =>
  event({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }] });

const ofAll = [
  ": ping\n\n",
  ": ping\n\nevent: ping\n\n",
  "data:\n\n",
  "\n\n",
  "id: 7\nretry: 3\n\n",
  event({ type: "ping" }),
];
const ofChoices = [
  ofChat({ delta: {}, finish_reason: "null" }),
  event({ id: "1", object: "chat.completion.chunk", created: 2, model: "m", choices: [], obfuscation: "Xa" }),
  event({ id: "1", choices: [], usage: { prompt_tokens: 3, completion_tokens: 0 } }),
  event({ object: "heartbeat", ts: 1 }),
  event({ id: "", choices: [], status: "queued", position: 3 }),
  event({ id: "", choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }),
];
const ofResponses = (type: string, more: object = {}): string => event({ type: `response.${type}`, ...more });

interface Dialect {
  readonly handler: (own: typeof fetch, options?: WaitOptions) => LlmHandler;
  /** The event with the finish reason. The Responses API has its end in one event. */
  readonly finish?: string;
  readonly pieces: readonly string[];
  readonly heartbeats: readonly string[];
}

const dialects: Readonly<Record<string, Dialect>> = {
  openaiChat: {
    handler: (own, options) => openaiChat({ ...base, ...options, fetch: own }),
    finish: ofChat({ delta: {}, finish_reason: "stop" }),
    pieces: [
      ofChat({ delta: { content: "a" } }),
      ofChat({ delta: { reasoning_content: "a" } }),
      ofChat({ delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "" } }] } }),
      ofChat({ delta: { tool_calls: [{ index: 0, function: { arguments: "{" } }] } }),
    ],
    heartbeats: [
      ...ofAll,
      ...ofChoices,
      ofChat({ delta: {} }),
      ofChat({ delta: { role: "assistant", content: "" }, finish_reason: null, logprobs: null }),
    ],
  },
  textCompletion: {
    handler: (own, options) => textCompletion({ ...base, ...options, fetch: own, template }),
    finish: event({ choices: [{ index: 0, text: "", finish_reason: "stop" }] }),
    pieces: [event({ choices: [{ index: 0, text: "a" }] })],
    heartbeats: [...ofAll, ...ofChoices, event({ choices: [{ index: 0, text: "", finish_reason: null }] })],
  },
  openaiResponses: {
    handler: (own, options) => openaiResponses({ ...base, ...options, fetch: own }),
    pieces: [
      ofResponses("output_item.added", { output_index: 0, item: { type: "message", id: "m", content: [] } }),
      ofResponses("output_text.delta", { output_index: 0, content_index: 0, item_id: "m", delta: "a" }),
      ofResponses("web_search_call.searching", { output_index: 0, item_id: "w" }),
    ],
    heartbeats: [
      ...ofAll,
      event({ type: "keepalive", sequence_number: 3 }),
      ofResponses("in_progress", { response: { id: "r", status: "in_progress", output: [] } }),
      ofResponses("output_text.delta", { output_index: 0, item_id: "m", delta: "" }),
      ofResponses("heartbeat", { sequence_number: 3 }),
      ofResponses("keepalive"),
    ],
  },
};

const idleTimeoutMs = 1000;

const ended = async (outcome: Promise<unknown>): Promise<boolean> => {
  const waiting = Symbol("waiting");
  // All due work is done before the next turn of the event loop.
  const turn = new Promise((resolve) => void setImmediate(() => resolve(waiting)));
  return (await Promise.race([outcome, turn])) !== waiting;
};

describe.each(Object.entries(dialects))("%s", (_, { handler, pieces, heartbeats }) => {
  test("gives up an answer that stalls for five minutes, where nobody says another time", async () => {
    const server = drip("text/event-stream");
    const { outcome, clock, control } = perform(handler(server.fetch));
    await server.send(pieces[0] ?? "");
    clock.advance(200_000);
    await server.send(": ping\n\n");
    clock.advance(99_999);
    expect(await ended(outcome)).toBe(false);
    clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: "timeout" } });
    expect([clock.waiting(), getEventListeners(control.signal, "abort")]).toEqual([0, []]);
  });

  test("shows the pieces of a stream of an unknown type as they come", async () => {
    const server = drip("text/plain");
    const { outcome, deltas, control } = perform(handler(server.fetch));
    for (const piece of pieces.slice(0, 2)) await server.send(piece);
    expect(deltas).not.toEqual([]);
    control.abort();
    await outcome;
  });

  test("waits for an answer that stalls as long as its options say", async () => {
    const server = drip("text/event-stream");
    const { outcome, clock, control } = perform(handler(server.fetch, { idleTimeoutMs: null }));
    await server.send(pieces[0] ?? "");
    expect(clock.waiting()).toBe(0);
    control.abort();
    await outcome;
    const short = drip("text/event-stream");
    const second = perform(handler(short.fetch, { idleTimeoutMs: 5 }));
    await short.send(pieces[0] ?? "");
    second.clock.advance(5);
    expect(await second.outcome).toMatchObject({ failure: { kind: "timeout" } });
  });

  test.each(heartbeats)("gives up a stalled stream that is kept open by %j", { timeout: 5_000 }, async (heartbeat) => {
    const server = drip("text/event-stream");
    const { outcome, clock } = perform(handler(server.fetch), callOf({ idleTimeoutMs }));
    await server.send(pieces[0] ?? "");
    for (let count = 0; count < 4; count++) {
      clock.advance(idleTimeoutMs / 4 - 1);
      await server.send(heartbeat);
    }
    clock.advance(4);
    expect(await outcome).toMatchObject({ failure: { kind: "timeout" } });
  });

  test.each(heartbeats)("gives up an answer of which only %j comes, because of its silence", async (heartbeat) => {
    const server = drip("text/event-stream");
    const { outcome, clock } = perform(handler(server.fetch), callOf({ idleTimeoutMs }));
    await server.send(heartbeat);
    clock.advance(idleTimeoutMs);
    expect(await outcome).toMatchObject({ failure: { kind: "timeout" } });
  });

  test.each(pieces)("waits on when %j comes", async (piece) => {
    const server = drip("text/event-stream");
    const { outcome, clock, control } = perform(handler(server.fetch), callOf({ idleTimeoutMs }));
    await server.send(pieces[0] ?? "");
    for (let count = 0; count < 4; count++) {
      clock.advance(idleTimeoutMs - 1);
      await server.send(piece);
    }
    control.abort();
    expect(await outcome).toMatchObject({ failure: { code: "aborted" } });
  });

  test("gives up an answer in one piece of which only white space comes", async () => {
    const server = drip("application/json");
    const { outcome, clock } = perform(handler(server.fetch), callOf({ idleTimeoutMs }));
    for (let count = 0; count < 4; count++) {
      await server.send("\n \n");
      clock.advance(idleTimeoutMs / 4);
    }
    expect(await outcome).toMatchObject({ failure: { kind: "timeout" } });
  });
});

test.each([
  [": ping\n\n", (own: typeof fetch) => createOpenAI({ apiKey: "none", baseURL: base.baseURL, fetch: own }).chat("m")],
  // This provider itself waits for the first piece.
  [event({ type: "ping" }), (own: typeof fetch) => createAnthropic({ apiKey: "none", fetch: own })("m")],
])(
  "aiSdkModel gives up an answer whose first piece does not come, although %j does",
  { timeout: 5_000 },
  async (ping, make) => {
    const server = drip("text/event-stream");
    const { outcome, clock } = perform(aiSdkModel(make(server.fetch)));
    await server.send(ping);
    clock.advance(300_000);
    expect(await outcome).toMatchObject({ failure: { kind: "timeout" } });
  },
);

const withFinish = Object.entries(dialects).flatMap(([name, { handler, pieces, finish }]) =>
  finish === undefined ? [] : [{ name, handler, pieces, finish }],
);

describe.each(withFinish)("$name", ({ handler, pieces, finish }) => {
  test("answers two seconds after the finish reason, with the usage that came since", async () => {
    const server = drip("text/event-stream");
    const { outcome, clock } = perform(handler(server.fetch), callOf({ idleTimeoutMs: 60_000 }));
    await server.send(pieces[0] ?? "");
    await server.send(finish);
    clock.advance(1000);
    await server.send(event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }));
    clock.advance(999);
    await server.send(": ping\n\n");
    expect(await ended(outcome)).toBe(false);
    clock.advance(1);
    expect(await outcome).toMatchObject({ type: "completed", finishReason: "stop", usage: { inputTokens: 3 } });
    expect(clock.waiting()).toBe(0);
  });

  test("waits on while pieces follow a finish reason, and not while only the reason comes again", async () => {
    const server = drip("text/event-stream");
    const { outcome, clock } = perform(handler(server.fetch));
    for (const sent of [finish, ...Array<string>(4).fill(pieces[0] ?? ""), ...Array<string>(4).fill(finish)]) {
      expect(await ended(outcome)).toBe(false);
      await server.send(sent);
      clock.advance(499);
    }
    clock.advance(4);
    expect(await outcome).toMatchObject({ type: "completed", reply: { content: "aaaa" } });
  });

  test("waits for the end of a stream as long as its options say", async () => {
    const server = drip("text/event-stream");
    const { outcome, clock } = perform(handler(server.fetch, { endTimeoutMs: null, idleTimeoutMs: null }));
    await server.send(pieces[0] ?? "");
    await server.send(finish);
    expect(clock.waiting()).toBe(0);
    await server.send("data: [DONE]\n\n");
    expect(await outcome).toMatchObject({ type: "completed" });
  });
});

test("a call asks for its keys at its first piece, once", () => {
  const keys = vi.fn(() => ["sk-0123456789abcdef"]);
  const shown: string[] = [];
  const onDelta = (delta: LlmDelta): void => void shown.push("text" in delta ? delta.text : "");
  const context = { signal: new AbortController().signal, clock: testClock(), onDelta, tools: [] };
  const running = runningCall(callOf(), context, {}, keys);
  expect(keys).not.toHaveBeenCalled();
  for (const text of ["Hi ", "you. "]) running.onDelta({ type: "text", text });
  expect(keys).toHaveBeenCalledTimes(1);
  running.close();
  expect(shown.join("")).toBe("Hi you. ");
});

test("a call wakes at the end of a silence that would be too long, and not before", () => {
  const clock = { ...testClock(5), wakeAt: vi.fn(() => () => {}) };
  const context = { signal: new AbortController().signal, clock, onDelta: () => {}, tools: [] };
  runningCall(callOf({ idleTimeoutMs: 1000 }), context, {}, () => []).close();
  expect(clock.wakeAt.mock.calls).toEqual([[1005, expect.any(Function)]]);
});
