import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { tool } from "@colloquy/host";
import {
  type CallLlm,
  conversationMachine,
  messageFromDraft,
  messagesOf,
  type ToolDeclaration,
} from "@colloquy/machine";
import { virtualClock } from "@colloquy/runtime-test";
import { BaseChatModel, type BaseChatModelCallOptions } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fromBaseMessages, langchainModel } from "../../src/langchain/index.ts";
import { hostWith } from "./stage.ts";

type Script = (messages: BaseMessage[], options: Options) => AsyncIterable<AIMessageChunk>;
interface Options extends BaseChatModelCallOptions {
  readonly tools?: readonly unknown[];
}

/** A chat model of LangChain that streams by a script, and records its calls. */
class ScriptedModel extends BaseChatModel<Options> {
  readonly calls: { readonly messages: BaseMessage[]; readonly options: Options }[] = [];
  readonly apiKey = "sk-very-secret";
  readonly #script: Script;

  constructor(script: Script) {
    super({});
    this.#script = script;
  }

  override get lc_secrets() {
    return { apiKey: "SOME_KEY" };
  }

  override _llmType(): string {
    return "scripted";
  }

  override _generate(): never {
    throw new Error("it streams");
  }

  override bindTools(tools: readonly unknown[], options: object = {}) {
    return this.withConfig({ ...options, tools });
  }

  override async *_streamResponseChunks(messages: BaseMessage[], options: this["ParsedCallOptions"]) {
    this.calls.push({ messages, options });
    for await (const message of this.#script(messages, options)) yield new ChatGenerationChunk({ message, text: "" });
  }
}

const streams = (...fields: ConstructorParameters<typeof AIMessageChunk>[0][]) =>
  new ScriptedModel(async function* () {
    for (const each of fields) yield new AIMessageChunk(each);
  });

const throwing = (error: object) =>
  // eslint-disable-next-line require-yield
  new ScriptedModel(async function* () {
    throw Object.assign(new Error("no"), error);
  });

const callOf = (more: Partial<CallLlm> = {}): CallLlm => ({
  type: "callLlm",
  id: "a/1.1#1",
  threadId: "a",
  turn: 1,
  step: 1,
  purpose: "answer",
  attempt: 1,
  messages: [messageFromDraft("1.0", { role: "user", content: "Hi" })],
  model: {},
  promptDigest: "",
  ...more,
});

const heard = async (model: BaseChatModel, more: Partial<CallLlm> = {}, tools: readonly ToolDeclaration[] = []) => {
  const deltas: LlmDelta[] = [];
  const outcome = await langchainModel(model)(callOf(more), {
    signal: new AbortController().signal,
    onDelta: (delta) => deltas.push(delta),
    clock: virtualClock(),
    tools,
  });
  return { outcome, deltas };
};

const failureIn = (outcome: LlmOutcome) => (outcome.type === "failed" ? outcome.failure : null);

test("a reply is streamed, with reasoning, unparsed calls, and usage", async () => {
  const model = streams(
    { content: [{ type: "thinking", thinking: "Hm." }] },
    { content: [{ type: "text", text: "Let me " }] },
    { content: [{ type: "text", text: "see." }], id: "msg_1" },
    { content: "", tool_call_chunks: [{ index: 1, id: "c1", name: "weather", args: '{"city": ' }] },
    { content: "", tool_call_chunks: [{ index: 1, args: '"Oslo"}' }] },
    { content: "", tool_call_chunks: [{ index: 2, id: "c2", name: "weather", args: "{oop!" }] },
    {
      content: "",
      response_metadata: { finish_reason: "tool_calls", model_name: "m-1" },
      ...usage,
    },
  );
  const { outcome, deltas } = await heard(model, { model: { stop: ["x"] } });
  expect(deltas).toEqual([
    { type: "reasoning", text: "Hm." },
    { type: "text", text: "Let me " },
    { type: "text", text: "see." },
    { type: "toolCall", index: 0, id: "c1", name: "weather", arguments: '{"city": ' },
    { type: "toolCall", index: 0, id: "c1", name: "weather", arguments: '"Oslo"}' },
    { type: "toolCall", index: 1, id: "c2", name: "weather", arguments: "{oop!" },
  ]);
  expect(outcome).toMatchObject({
    type: "completed",
    finishReason: "tool_calls",
    model: "m-1",
    responseId: "msg_1",
    usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8, cacheReadTokens: 2, reasoningTokens: 1 },
    reply: {
      toolCalls: [
        { id: "c1", name: "weather", arguments: '{"city": "Oslo"}' },
        { id: "c2", name: "weather", arguments: "{oop!" },
      ],
    },
  });
  expect(model.calls[0]?.options.stop).toEqual(["x"]);
});

// The object literal cannot have the field's type.
const usage: object = {
  usage_metadata: {
    input_tokens: 5,
    output_tokens: 3,
    total_tokens: 8,
    input_token_details: { cache_read: 2 },
    output_token_details: { reasoning: 1 },
  },
};

test("a model is offered exactly the tools of the call, and its rounds go back unchanged", async () => {
  const model = new ScriptedModel(async function* (messages) {
    yield messages.length === 1
      ? new AIMessageChunk({
          content: "",
          tool_call_chunks: [{ index: 0, id: "c1", name: "weather", args: '{"city":"Oslo"}' }],
        })
      : new AIMessageChunk(`So: ${messages.at(-1)?.text}`);
  });
  const weather = tool({
    name: "weather",
    description: "The weather.",
    input: z.object({ city: z.string() }),
    run: ({ city }) => `sun in ${city}`,
  });
  const host = hostWith({
    machine: conversationMachine({ tools: [weather.declaration] }),
    tools: [weather],
    llm: langchainModel(model),
  });
  expect((await host.ask("Weather?", { threadId: "a" })).text).toBe("So: sun in Oslo");
  expect(model.calls.map(({ options }) => options.tools)).toMatchObject([
    [{ type: "function", function: { name: "weather", description: "The weather." } }],
    [{ function: { name: "weather" } }],
  ]);
  const [, ai, result] = model.calls[1]?.messages ?? [];
  expect(ai).toMatchObject({ tool_calls: [{ id: "c1", name: "weather", args: { city: "Oslo" } }] });
  expect(result).toMatchObject({ tool_call_id: "c1", status: "success", content: "sun in Oslo" });
});

test("a summary offers no tools, and a model that supports none fails", async () => {
  const model = streams({ content: "Short." });
  await heard(model, { purpose: "summary" });
  expect(model.calls[0]?.options.tools).toBeUndefined();
  Object.defineProperty(model, "bindTools", { value: undefined });
  const { outcome } = await heard(model, {}, [{ name: "weather" }]);
  expect(failureIn(outcome)).toMatchObject({ kind: "bad_request", retryable: false });
});

test.for([
  [
    { status: 429, headers: new Headers({ "retry-after": "2" }) },
    { kind: "rate_limit", retryable: true, retryAfterMs: 2000 },
  ],
  [
    { status: 429, code: "insufficient_quota" },
    { kind: "rate_limit", retryable: false, code: "insufficient_quota" },
  ],
  [{ status: 401 }, { kind: "auth", retryable: false, status: 401 }],
  [{ statusCode: 503 }, { kind: "overloaded", retryable: true }],
  [{ response: { status: 500 } }, { kind: "unknown", retryable: true }],
  [{ status: 400 }, { kind: "bad_request", retryable: false }],
  [{ name: "ContextOverflowError" }, { kind: "context_length", retryable: false }],
  [{ name: "APIConnectionError" }, { kind: "network", retryable: true }],
  [{ name: "TimeoutError" }, { kind: "timeout", retryable: true }],
  [{ lc_error_code: "MODEL_AUTHENTICATION" }, { kind: "auth", retryable: false }],
  [{}, { kind: "unknown", retryable: false, message: "no" }],
] as const)("%j is a failure of its kind", async ([error, failure]) => {
  expect(failureIn((await heard(throwing(error))).outcome)).toMatchObject(failure);
});

describe("nothing hangs, nothing is thrown", () => {
  const never = () =>
    new ScriptedModel(async function* () {
      yield new AIMessageChunk("Hel");
      await new Promise(() => {});
    });

  test("an abort ends a call whose model ignores it", async () => {
    const control = new AbortController();
    const outcome = langchainModel(never())(callOf(), {
      signal: control.signal,
      onDelta: () => control.abort(),
      clock: virtualClock(),
      tools: [],
    });
    expect(failureIn(await outcome)).toMatchObject({ code: "aborted" });
  });

  test("so does silence", async () => {
    const clock = virtualClock();
    const outcome = langchainModel(never())(callOf({ idleTimeoutMs: 1000 }), {
      signal: new AbortController().signal,
      onDelta: () => queueMicrotask(() => void clock.advance(1000)),
      clock,
      tools: [],
    });
    expect(failureIn(await outcome)).toMatchObject({ kind: "timeout", retryable: true });
  });

  test("a stream without anything is a failure", async () => {
    expect(failureIn((await heard(streams())).outcome)).toMatchObject({ kind: "truncated" });
  });
});

test("the model's key is in no piece, reply or failure", async () => {
  const whole = await heard(streams({ content: "It is sk-very-secret." }));
  const failed = await heard(throwing({ message: "bad key sk-very-secret" }));
  expect(JSON.stringify([whole, failed])).not.toContain("very-secret");
  expect(whole.deltas).toEqual([{ type: "text", text: "It is [redacted]." }]);
});

test("the model's key is removed across pieces, and a text that only begins like it is shown", async () => {
  const text = "It is sk-very-secret, not sk-very-big or sk-ve";
  for (let size = 1; size <= text.length; size++) {
    const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const { deltas } = await heard(streams(...pieces.map((content) => ({ content }))));
    const shown = deltas.map((delta) => (delta.type === "text" ? delta.text : "")).join("");
    expect(shown).toBe("It is [redacted], not sk-very-big or sk-ve");
  }
});

test("an output is requested by a required tool, or else by an instruction", async () => {
  const output = { name: "city", schema: { type: "object" as const }, mode: "tool" as const };
  const model = streams({ content: "", tool_call_chunks: [{ index: 0, id: "c", name: "city", args: '{"a":1}' }] });
  const { outcome } = await heard(model, { output });
  expect(outcome).toMatchObject({ reply: { content: [{ type: "text", text: '{"a":1}' }] } });
  expect(model.calls[0]?.options).toMatchObject({ tool_choice: "any" });
  const plain = streams({ content: '{"a":1}' });
  await heard(plain, { output: { ...output, mode: "native" } });
  expect(plain.calls[0]?.messages[0]?.text).toContain("JSON Schema");
});

test("a history of LangChain becomes a thread, even a stored one; a list that is not a conversation is refused with a reason", async () => {
  const host = hostWith({ llm: langchainModel(streams({ content: "Fine." })) });
  const messages = [new HumanMessage("Hi"), new AIMessage({ content: "Hello", name: "Eve" })];
  const stored = {
    type: "human",
    data: { content: "And you?", role: undefined, name: undefined, tool_call_id: undefined },
  };
  const read = fromBaseMessages([...messages, stored, new AIMessage("Good.")]);
  if ("left" in read) throw new Error(read.left.reason);
  const thread = await host.importMessages(read.right);
  expect((await thread.ask("Still?")).text).toBe("Fine.");
  const state = await thread.state();
  expect(state === null ? [] : messagesOf(state).map(({ role, name }) => `${role} ${name ?? ""}`)).toEqual([
    "user ",
    "assistant Eve",
    "user ",
    "assistant ",
    "user ",
    "assistant ",
  ]);
  expect(fromBaseMessages([{ type: "remove", data: stored.data }])).toMatchObject({
    left: { index: 0, reason: "item 0 is no message: it removes another one; give the messages that are left" },
  });
});

test("a value that is not a chat model is refused with a reason", () => {
  expect(() => Reflect.apply(langchainModel, null, ["gpt"])).toThrow(/langchainModel needs a chat model of LangChain/);
});
