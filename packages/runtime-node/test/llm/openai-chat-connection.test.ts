import { getEventListeners, once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { openaiChat } from "../../src/llm/openai.ts";
import { callOf, handlerFor, perform, testClock } from "./call.ts";
import { answeringJson, begin, chatServer, chunkOf, eventOf } from "./server.ts";

const partial = { content: "Be" };

const streamOf = (body: ReadableStream<Uint8Array<ArrayBuffer>>, type = "text/event-stream"): Response =>
  new Response(body, { headers: { "content-type": type } });

describe("a connection", () => {
  test("that is refused, or cut, is a network failure", async () => {
    const gone = await chatServer((request) => request.socket.destroy());
    expect(await perform(handlerFor("http://127.0.0.1:1/v1")).outcome).toMatchObject({
      failure: { kind: "network", retryable: true },
    });
    expect(await perform(handlerFor(gone.baseURL)).outcome).toMatchObject({
      failure: { kind: "network", retryable: true },
    });
    for (const headers of [{ "content-type": "text/event-stream" }, { "content-type": "application/json" }]) {
      const { baseURL } = await chatServer((_, response) => {
        response.writeHead(200, headers);
        response.write(eventOf(chunkOf({ content: "Be" })), () => response.destroy());
      });
      expect(await perform(handlerFor(baseURL)).outcome).toMatchObject({
        failure: { kind: "network", retryable: true },
      });
    }
  });

  test("that falls silent for longer than is allowed is a timeout, with what had come", async () => {
    let response: ServerResponse | undefined;
    const { baseURL } = await chatServer((_, opened) => {
      response = opened;
      begin(opened, chunkOf({ content: "B" }));
    });
    const { outcome, told, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await told(1);
    clock.advance(600);
    response?.write(eventOf(chunkOf({ content: "e" })));
    await told(2);
    clock.advance(600);
    response?.write(eventOf(chunkOf({ reasoning: "hm" })));
    await told(3);
    clock.advance(1000);
    expect(await outcome).toMatchObject({
      type: "failed",
      failure: { kind: "timeout", retryable: true },
      partial: { content: [{ text: "hm" }, { text: "Be" }] },
    });
    expect(clock.waiting()).toBe(0);
  });

  test.each(["event-stream", "json"])("that never answers, or only with headers (%s), is a timeout", async (type) => {
    for (const answers of [false, true]) {
      const arrived = Promise.withResolvers<void>();
      const { baseURL } = await chatServer((_, response) => {
        if (answers) response.writeHead(200, { "content-type": type }).flushHeaders();
        arrived.resolve();
      });
      const { outcome, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
      await arrived.promise;
      clock.advance(1000);
      expect(await outcome).toMatchObject({ type: "failed", failure: { kind: "timeout" } });
      expect(clock.waiting()).toBe(0);
    }
  });

  test("that sends comments alone is alive", async () => {
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const handler = openaiChat({ baseURL: "http://127.0.0.1:1", apiKey: "k", fetch: async () => streamOf(readable) });
    const { outcome, clock } = perform(handler, callOf({ idleTimeoutMs: 1000 }));
    const writer = writable.getWriter();
    const write = async (text: string): Promise<void> => {
      await writer.write(new TextEncoder().encode(text));
      // What is written has then been read, and what follows from that is done.
      await new Promise((resolve) => setImmediate(resolve));
    };
    await write(": waiting\n\n");
    clock.advance(600);
    await write(": keep-alive\n\n");
    clock.advance(600);
    await write(eventOf(chunkOf({ content: "Be" }, "stop")));
    await writer.close();
    expect(await outcome).toMatchObject({ type: "completed", reply: partial });
  });

  test.each([
    ["plain", "application/json", "the server's answer is larger than 67108864 bytes"],
    ["a line of a stream", "text/event-stream", "a line of the stream is longer than 67108864 characters"],
  ])("whose answer has no end (%s) is cut off", async (_, type, message) => {
    const piece = new Uint8Array(2 ** 23).fill("x".charCodeAt(0));
    let pieces = 0;
    const cancelled = Promise.withResolvers<void>();
    const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        pieces++;
        controller.enqueue(piece);
      },
      cancel: () => cancelled.resolve(),
    });
    const handler = openaiChat({
      baseURL: "http://127.0.0.1:1",
      apiKey: "k",
      fetch: async () => streamOf(endless, type),
    });
    expect(await perform(handler).outcome).toMatchObject({
      type: "failed",
      failure: { kind: "unknown", retryable: false, message },
    });
    await cancelled.promise;
    expect(pieces).toBeLessThan(12);
  });

  test("of an answer that had ended may fall silent", async () => {
    const { baseURL } = await chatServer((_, response) => begin(response, chunkOf({ content: "Be" }, "stop")));
    const { outcome, told, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await told(1);
    clock.advance(1000);
    expect(await outcome).toMatchObject({ type: "completed", reply: partial });
  });

  test("is closed on abort, and nothing keeps listening", async () => {
    const closed = Promise.withResolvers<void>();
    const { baseURL } = await chatServer((_, response) => {
      void once(response, "close").then(() => closed.resolve());
      begin(response, chunkOf({ content: "Be" }));
    });
    const { outcome, told, control, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await told(1);
    expect(getEventListeners(control.signal, "abort")).toHaveLength(1);
    control.abort();
    expect(await outcome).toMatchObject({ type: "failed", failure: { code: "aborted", retryable: false }, partial });
    await closed.promise;
    expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
    expect(clock.waiting()).toBe(0);
  });

  test("is not made when the call was cancelled before", async () => {
    const { baseURL, bodies } = await chatServer(answeringJson({}));
    const outcome = await handlerFor(baseURL)(callOf(), {
      signal: AbortSignal.abort(),
      onDelta: () => {},
      clock: testClock(),
      tools: [],
    });
    expect(outcome).toMatchObject({ type: "failed", failure: { code: "aborted" } });
    expect(bodies).toHaveLength(0);
  });

  test("leaves no listener behind when all went well", async () => {
    const { baseURL } = await chatServer(
      answeringJson({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }),
    );
    const { outcome, control, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await outcome;
    expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
    expect(clock.waiting()).toBe(0);
  });
});
