import type { LlmHandler } from "@colloquy/host";
import { errorTextOf } from "@colloquy/host/runtime";
import { promptFormat } from "@colloquy/interchange/templates";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openaiChat, openaiResponses, textCompletion } from "../../src/llm/openai.ts";
import { callOf, perform } from "./call.ts";

interface Answer {
  readonly fetch: typeof fetch;
  /** Returns the number of bytes of the body that were read. */
  readonly taken: () => number;
  readonly isCancelled: () => boolean;
}

/** Makes an answer that begins with a text, and then never ends, or stalls. */
const answer = (status: number, text: string, rest: "endless" | "stalled", type = "application/json"): Answer => {
  let taken = 0;
  let cancelled = false;
  const filler = new TextEncoder().encode("x".repeat(65_536));
  const body = (): ReadableStream<Uint8Array<ArrayBuffer>> => {
    let first = true;
    return new ReadableStream(
      {
        pull: (controller) => {
          const bytes = first ? new TextEncoder().encode(text) : filler;
          if (!first && rest === "stalled") return new Promise(() => {});
          first = false;
          taken += bytes.length;
          controller.enqueue(bytes);
          return undefined;
        },
        cancel: () => void (cancelled = true),
      },
      { highWaterMark: 0 },
    );
  };
  return {
    fetch: async () => new Response(body(), { status, headers: { "content-type": type } }),
    taken: () => taken,
    isCancelled: () => cancelled,
  };
};

const marks = { role: "", role_sep: "", pre: "", suf: "" };
const template = promptFormat({ user: marks, agent: marks, system_prompt: marks, prompt: marks });
const base = { apiKey: "none", baseURL: "http://127.0.0.1:1/v1", model: "m" };

const handlers: readonly (readonly [string, (own: typeof fetch) => LlmHandler])[] = [
  ["openaiChat", (own) => openaiChat({ ...base, fetch: own })],
  ["openaiResponses", (own) => openaiResponses({ ...base, fetch: own })],
  ["textCompletion", (own) => textCompletion({ ...base, fetch: own, template })],
  ["openaiChat with a client", (own) => openaiChat({ model: "m", client: new OpenAI({ ...base, fetch: own }) })],
  [
    "openaiChat with a client that retries",
    (own) => openaiChat({ model: "m", client: new OpenAI({ ...base, fetch: own, maxRetries: 5 }) }),
  ],
];

describe.each(handlers)("%s", (_, make) => {
  test.each([400, 401, 404, 429, 500, 503])(
    "reads an error %i without an end to a bound, and cancels it",
    async (status) => {
      const server = answer(status, '{"error":{"message":"no more today"}} ', "endless");
      const { outcome } = perform(make(server.fetch));
      expect(await outcome).toMatchObject({
        type: "failed",
        failure: { status, message: expect.stringMatching(/^.{0,501}$/s) },
      });
      expect(server.isCancelled()).toBe(true);
      expect(server.taken()).toBeLessThan(200_000);
    },
  );

  test("reports an error whose body stalls, with its status, within the time of the call", async () => {
    const server = answer(401, "wrong key", "stalled");
    const { outcome, clock } = perform(make(server.fetch), callOf({ idleTimeoutMs: 1000 }));
    while (server.taken() === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
    expect(await outcome).toMatchObject({ failure: { kind: "auth", status: 401, message: "wrong key" } });
    expect(server.isCancelled()).toBe(true);
  });

  test.each(["application/json", "text/event-stream"])(
    "ends with its call if the fetch ignores the signal and a body of %s stalls",
    async (type) => {
      const server = answer(200, ": wait\n\n", "stalled", type);
      const { outcome, clock } = perform(make(server.fetch), callOf({ idleTimeoutMs: 1000 }));
      while (server.taken() === 0) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1000);
      expect(await outcome).toMatchObject({ failure: { kind: "timeout" } });
      expect(server.isCancelled()).toBe(true);
    },
  );

  test("ends with its call if the fetch ignores the signal and never answers", async () => {
    let asked = false;
    const never = (): Promise<Response> => {
      asked = true;
      return new Promise(() => {});
    };
    const { outcome, control } = perform(make(never));
    while (!asked) await new Promise((resolve) => setImmediate(resolve));
    control.abort();
    expect(await outcome).toMatchObject({ failure: { code: "aborted" } });
  });

  test("cancels an answer that comes after its call was aborted, if the fetch ignores the signal", async () => {
    const server = answer(200, ": wait\n\n", "stalled", "text/event-stream");
    const asked = Promise.withResolvers<void>();
    const late = Promise.withResolvers<Response>();
    const { outcome, control } = perform(
      make(() => {
        asked.resolve();
        return late.promise;
      }),
    );
    await asked.promise;
    control.abort();
    expect(await outcome).toMatchObject({ failure: { code: "aborted" } });
    late.resolve(await server.fetch("http://127.0.0.1:1/"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.isCancelled()).toBe(true);
  });

  test("fails at an endless answer that is not a stream", async () => {
    const server = answer(200, '{"choices":[', "endless");
    const { outcome } = perform(make(server.fetch));
    expect(await outcome).toMatchObject({
      failure: { kind: "unknown", retryable: false, message: "the server's answer is larger than 67108864 bytes" },
    });
    expect(server.isCancelled()).toBe(true);
  });
});

test("a shared client reads the errors of other code in full", async () => {
  const long = JSON.stringify({ error: { message: "x".repeat(10_000) } });
  const client = new OpenAI({ ...base, maxRetries: 0, fetch: async () => new Response(long, { status: 400 }) });
  const { outcome } = perform(openaiChat({ model: "m", client }));
  expect(await outcome).toMatchObject({ failure: { status: 400 } });
  await expect(client.models.list()).rejects.toMatchObject({ error: { message: "x".repeat(10_000) } });
});

test("handlers that share a client report the server's errors, all of them", async () => {
  const refused = '{"error":{"message":"no more today"}}';
  const client = new OpenAI({ ...base, fetch: async () => new Response(refused, { status: 429 }) });
  for (const handler of [openaiChat({ model: "m", client }), openaiResponses({ model: "m", client })])
    expect(await perform(handler).outcome).toMatchObject({
      failure: { kind: "rate_limit", status: 429, message: "no more today" },
    });
});

test.each([
  ["nothing", null, ""],
  ["less than the bound", "wrong", "wrong"],
  ["more than the bound", "é".repeat(9000), "é".repeat(4096)],
])("errorTextOf gives the beginning of %s", async (_, body, text) => {
  expect(await errorTextOf(new Response(body))).toBe(text);
});

test("errorTextOf gives what came of a body that breaks off", async () => {
  const bytes = new TextEncoder().encode("wro");
  let pulls = 0;
  const breaking = new ReadableStream<Uint8Array<ArrayBuffer>>(
    { pull: (controller) => (pulls++ === 0 ? controller.enqueue(bytes) : controller.error(new Error("cut"))) },
    { highWaterMark: 0 },
  );
  expect(await errorTextOf({ body: breaking })).toBe("wro");
});
