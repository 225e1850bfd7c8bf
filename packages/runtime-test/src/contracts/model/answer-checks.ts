import type { LlmHandler } from "@colloquy/host";
import { expect } from "vitest";
import { reply, streams, toolCalls, fails } from "../../models/script.ts";
import { scriptedModel } from "../../models/scripted-model.ts";
import { recordedJson, recordedStream, recordedHtml, type RecordedResponse } from "../../server/recorded-response.ts";
import { question, completed, saidInPieces, saidInReply, failureOf, partialOf } from "./call.ts";
import type { ModelChecks } from "./subject.ts";
import type { ToolDeclaration, Failure, JsonObject } from "@colloquy/machine";

const text = "Grüße: ☃ and 🌨🌨, then sun.";

export const answerChecks: ModelChecks = {
  "sends what it was asked, in one request": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply(text)]));
    completed(await ended());
    expect(requests).toHaveLength(1);
    expect(requests[0]?.text).toContain(question);
  },
  "shows a piece when it comes, before the next is there": async ({ call, soon }) => {
    const seen = Promise.withResolvers<void>();
    const model: LlmHandler = async (_, { onDelta }) => {
      onDelta({ type: "text", text: "First, " });
      await soon(seen.promise, "the first piece was not shown while the second had not come");
      onDelta({ type: "text", text: "second." });
      return { type: "completed", reply: { content: "First, second." }, finishReason: "stop" };
    };
    const { ended, shown, deltas } = await call(model);
    await shown(1);
    seen.resolve();
    expect(saidInReply(completed(await ended()).reply).text).toBe("First, second.");
    expect(saidInPieces(deltas).text).toBe("First, second.");
  },
  "shows pieces that together are the reply, in order, however the bytes are cut": async ({ play, wire }) => {
    const bytes = await wire(reply(text), true);
    for (const pieceBytes of [5, 1_000_000]) {
      const { ended, deltas } = await play([recordedStream(bytes, { pieceBytes })]);
      const outcome = completed(await ended());
      expect(saidInReply(outcome.reply)).toEqual({ text, reasoning: "", refusal: "", calls: [] });
      expect(saidInPieces(deltas)).toEqual(saidInReply(outcome.reply));
      expect(outcome.finishReason).toBe("stop");
    }
  },
  "reports the usage that the server reports": async ({ call }) => {
    const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 };
    const { ended } = await call(scriptedModel([reply(text, { usage })]));
    expect(completed(await ended()).usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
  },
  "does not make zeros of a usage that the server does not report": async ({ play, wire }) => {
    const { ended } = await play([recordedStream(await wire(reply(text), true))]);
    const { usage = {} } = completed(await ended());
    expect(usage.inputTokens).toBeUndefined();
    expect(usage.outputTokens).toBeUndefined();
    expect(usage.totalTokens).toBeUndefined();
  },
};

/** Checks of answers that are not streamed. */
export const plainChecks: ModelChecks = {
  "gives a plain answer as a streamed one, shown in one go": async ({ play, wire }) => {
    const usage = { inputTokens: 11, outputTokens: 7 };
    const body = await wire(reply(text, { usage }), false);
    for (const pieceBytes of [5, 1_000_000]) {
      const { ended, deltas, requests } = await play([recordedJson(body, { pieceBytes })], { stream: false });
      const outcome = completed(await ended());
      expect(saidInReply(outcome.reply).text).toBe(text);
      expect(saidInPieces(deltas)).toEqual(saidInReply(outcome.reply));
      expect(outcome.usage).toMatchObject(usage);
      expect(requests[0]?.body).not.toMatchObject({ stream: true });
    }
  },
};

/** Checks of refusals, which some models return beside text. */
export const refusalChecks: ModelChecks = {
  "keeps a refusal apart from text": async ({ play, wire }) => {
    const bytes = await wire(streams([{ refusal: "I can't " }, { refusal: "say." }]), true);
    const { ended, deltas } = await play([recordedStream(bytes)]);
    const said = saidInReply(completed(await ended()).reply);
    expect(said).toMatchObject({ refusal: "I can't say.", text: "" });
    expect(saidInPieces(deltas)).toEqual(said);
  },
};

export const reasoningChecks: ModelChecks = {
  "keeps reasoning apart from text": async ({ play, wire }) => {
    const bytes = await wire(streams([{ reasoning: "Winter, " }, { reasoning: "so: " }, "Snow."]), true);
    const { ended, deltas } = await play([recordedStream(bytes)]);
    const said = saidInReply(completed(await ended()).reply);
    expect(said).toMatchObject({ reasoning: "Winter, so: ", text: "Snow." });
    expect(saidInPieces(deltas)).toEqual(said);
  },
};

const tools: readonly ToolDeclaration[] = ["get_weather", "get_time"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
}));

const calls = [
  { id: "call_a", name: "get_weather", arguments: '{"city":"Reykjavík 🌨"}' },
  { id: "call_b", name: "get_time", arguments: '{"city":"Rome"}' },
  { id: "call_c", name: "get_weather", arguments: '{"city":"Oslo"}' },
];

export const toolChecks: ModelChecks = {
  "offers exactly the tools of the call": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply("Snow.")]), { tools });
    completed(await ended());
    expect(JSON.stringify(namesIn(requests[0]?.body))).toBe(JSON.stringify(["get_weather", "get_time"]));
  },
  "offers no tools for a summary": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply("Snow.")]), { fields: { purpose: "summary" } });
    completed(await ended());
    expect(namesIn(requests[0]?.body)).toEqual([]);
  },
  "gives parallel calls in order, with ids and arguments, however the bytes are cut": async ({ play, wire }) => {
    const bytes = await wire(toolCalls(calls), true);
    for (const pieceBytes of [5, 1_000_000]) {
      const { ended, deltas } = await play([recordedStream(bytes, { pieceBytes })], { tools });
      const said = saidInReply(completed(await ended()).reply);
      expect(said).toEqual({ text: "", reasoning: "", refusal: "", calls });
      expect(saidInPieces(deltas)).toEqual(said);
    }
  },
};

export const plainToolChecks: ModelChecks = {
  "gives the calls of a plain answer": async ({ play, wire }) => {
    const { ended } = await play([recordedJson(await wire(toolCalls(calls), false))], { tools, stream: false });
    expect(saidInReply(completed(await ended()).reply).calls).toEqual(calls);
  },
};

export const noToolChecks: ModelChecks = {
  "says that it can't offer tools, and asks nobody": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply("Snow.")]), { tools });
    expect(failureOf(await ended())).toMatchObject({ kind: "bad_request", retryable: false });
    expect(requests).toEqual([]);
  },
};

/** Returns the names of the tools in a request; chat completions have them a level deeper. */
const namesIn = (body: unknown): readonly unknown[] => {
  // A handler sends a JSON object; any other value has no tools.
  const { tools = [] } = (body ?? {}) as {
    readonly tools?: readonly { name?: unknown; function?: { name: unknown } }[];
  };
  return tools.map((tool) => tool.function?.name ?? tool.name);
};

export const failureChecks: ModelChecks = {
  "classifies an error response by its status and its code, and does not ask again": async ({ play }) => {
    for (const [status, code, expected] of errors) {
      const { ended, requests, deltas } = await play([errorResponse(status, code)]);
      expect(failureOf(await ended()), `status ${status}, code ${code}`).toMatchObject(expected);
      expect(requests, `requests after status ${status}`).toHaveLength(1);
      expect(deltas).toEqual([]);
    }
  },
  "takes a gateway's page for a failure that passes": async ({ play }) => {
    const { ended } = await play([recordedHtml()]);
    expect(failureOf(await ended())).toMatchObject({ retryable: true, status: 502 });
  },
  "keeps what came before an error in the middle of a stream": async ({ call }) => {
    const failing = fails({ kind: "overloaded", message: "the server is overloaded" }, { partial: "It is snowing" });
    const { ended, deltas, requests } = await call(scriptedModel([failing]));
    const outcome = await ended();
    expect(failureOf(outcome).retryable).toBe(true);
    expect(partialOf(outcome, deltas).text).toBe("It is snowing");
    expect(requests).toHaveLength(1);
  },
  "reports how long the server asks to wait, in whichever form": async ({ play }) => {
    const now = Date.UTC(2026, 0, 1);
    for (const [headers, expected] of [
      [{ "retry-after": "2" }, 2000],
      [{ "retry-after": "0.5" }, 500],
      [{ "retry-after-ms": "1500" }, 1500],
      [{ "retry-after-ms": "1500", "retry-after": "2" }, 1500],
      [{ "retry-after": new Date(now + 3000).toUTCString() }, 3000],
      [{ "retry-after": new Date(now - 3000).toUTCString() }, 0],
      [{ "retry-after": "soon" }, undefined],
      [{}, undefined],
    ] as const) {
      const { ended } = await play([errorResponse(429, "rate_limit_exceeded", headers)]);
      const { kind, retryAfterMs } = failureOf(await ended());
      expect({ headers, kind, retryAfterMs }).toEqual({ headers, kind: "rate_limit", retryAfterMs: expected });
    }
  },
};

const errors: readonly (readonly [status: number, code: string | null, Partial<Failure>])[] = [
  [400, null, { kind: "bad_request", retryable: false, status: 400 }],
  [400, "context_length_exceeded", { kind: "context_length", retryable: false }],
  [400, "content_filter", { kind: "content_filter", retryable: false }],
  [401, "invalid_api_key", { kind: "auth", retryable: false, status: 401 }],
  [404, "model_not_found", { kind: "bad_request", retryable: false }],
  [429, "rate_limit_exceeded", { kind: "rate_limit", retryable: true, status: 429 }],
  [429, "insufficient_quota", { kind: "rate_limit", retryable: false }],
  [500, null, { retryable: true, status: 500 }],
  [503, null, { kind: "overloaded", retryable: true }],
  [504, null, { kind: "timeout", retryable: true }],
];

const errorResponse = (
  status: number,
  code: string | null,
  headers: RecordedResponse["headers"] = {},
): RecordedResponse => {
  const body: JsonObject = { error: { message: `the test answers ${status}`, type: "error", param: null, code } };
  return recordedJson(body, { status, headers });
};
