import { getEventListeners, once } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { openaiChat } from "../../src/llm/openai.ts";
import { callOf, handlerFor, perform } from "./call.ts";
import { answeringJson, begin, chatServer, chunkOf, eventOf } from "./server.ts";

const partial = { content: "Be" };

const streamOf = (body: ReadableStream<Uint8Array<ArrayBuffer>>, type = "text/event-stream"): Response =>
  new Response(body, { headers: { "content-type": type } });

describe("a connection", () => {
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

  const answer = `${eventOf(chunkOf({ content: "ok" }, "stop"))}data: [DONE]\n\n`;

  test.each([
    ["a second later", [answer], 1000],
    ["at once if more comes", [answer, ": more\n\n"], 0],
  ])("that stays open after the end mark is cancelled %s", async (_, sent, ms) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const pieces = sent.map((text) => new TextEncoder().encode(text));
      const cancel = vi.fn();
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
        {
          pull: async (controller) => {
            const piece = pieces.shift();
            if (piece === undefined) await new Promise(() => {});
            else controller.enqueue(piece);
          },
          cancel,
        },
        { highWaterMark: 0 },
      );
      const handler = openaiChat({ baseURL: "http://127.0.0.1:1", apiKey: "k", fetch: async () => streamOf(body) });
      expect(await perform(handler).outcome).toMatchObject({ type: "completed", reply: { content: "ok" } });
      await vi.advanceTimersByTimeAsync(Math.max(ms - 1, 0));
      expect(cancel).toHaveBeenCalledTimes(ms === 0 ? 1 : 0);
      await vi.advanceTimersByTimeAsync(1);
      expect(cancel).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
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
