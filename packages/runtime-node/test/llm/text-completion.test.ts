import { ConfigurationError, messageFromReply } from "@colloquy/machine";
import { promptFormat } from "@colloquy/interchange/templates";
import { describe, expect, test } from "vitest";
import { textCompletion, type TextCompletionOptions } from "../../src/index.ts";
import { callOf, perform } from "./call.ts";
import { begin, chatServer } from "./server.ts";

const template = promptFormat({
  user: { role: "Child", role_sep: ":", pre: "", suf: "\n\n" },
  agent: { role: "Teacher", role_sep: ":", pre: "", suf: "\n\n" },
  system_prompt: { pre: "<<SYS>>", suf: "<</SYS>>\n\n" },
  prompt: { pre: "[INST] ", suf: " [/INST]" },
});
const marks = { role: "", role_sep: "", pre: "", suf: "" };
/** A template without stop patterns. */
const plain = promptFormat({ user: marks, agent: marks, system_prompt: marks, prompt: marks });
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const read = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

const piece = (text: string, finish: string | null = null): object => ({
  id: "text-1",
  model: "model-1",
  choices: [{ index: 0, text, finish_reason: finish }],
});

const handlerOf = (baseURL: string, options: Partial<TextCompletionOptions> = {}) =>
  textCompletion({ baseURL, apiKey: "sk-test-key-0123456789", template, ...options });

/** Starts a server that streams these events and ends. */
const streaming = async (...events: readonly object[]) =>
  chatServer((_, response) => {
    begin(response, ...events);
    response.end("data: [DONE]\n\n");
  });

describe("a streamed reply", () => {
  test("is what stands before the first stop pattern, however it is cut", async () => {
    const { baseURL } = await streaming(
      piece(" Hi! How "),
      piece("are you today ?\n\nChi"),
      piece("ld :"),
      piece("", "stop"),
      { choices: [], usage },
    );
    const { outcome, deltas } = perform(handlerOf(baseURL));
    expect(await outcome).toEqual({
      type: "completed",
      reply: { content: "Hi! How are you today ?" },
      finishReason: "stop",
      usage: read,
      model: "model-1",
      responseId: "text-1",
    });
    expect(deltas.map((delta) => ("text" in delta ? delta.text : ""))).toEqual(["Hi! How", " are you today ?"]);
  });

  test("has each piece, even if it begins with all that came before", async () => {
    const { baseURL } = await streaming(piece("ha"), piece("ha"), piece("haha"), piece("!", "stop"));
    const { outcome } = perform(handlerOf(baseURL, { template: plain }));
    expect(await outcome).toMatchObject({ reply: { content: "hahahaha!" } });
  });

  test("is whole at a stop pattern, and a server that writes on is cut off", async () => {
    const { baseURL } = await chatServer((_, response) => begin(response, piece("Hi!\n\nChild :"), piece(" I am")));
    const { outcome } = perform(handlerOf(baseURL));
    expect(await outcome).toEqual({
      type: "completed",
      reply: { content: "Hi!" },
      finishReason: "stop",
      model: "model-1",
      responseId: "text-1",
    });
  });

  test("counts what it took, also if the server writes on before it says so", async () => {
    const { baseURL } = await streaming(piece("Hi!\n\nChild :"), piece(" I am"), piece("", "stop"), {
      choices: [],
      usage,
    });
    expect(await perform(handlerOf(baseURL)).outcome).toMatchObject({ reply: { content: "Hi!" }, usage: read });
  });
});

describe("a request", () => {
  const sent = async (
    options: Partial<TextCompletionOptions>,
    model: Record<string, string | number | null> = {},
  ): Promise<object | undefined> => {
    const { baseURL, bodies } = await streaming(piece("Hi!", "stop"));
    await perform(handlerOf(baseURL, options), callOf({ model })).outcome;
    return bodies[0];
  };

  test("has the rendered prompt, the user's stop patterns, and the defaults", async () => {
    expect(await sent({ model: "llama" })).toEqual({
      model: "llama",
      prompt: "[INST] Child : why?\n\n [/INST]\n\nTeacher : ",
      stop: ["Child :", "Child:"],
      max_tokens: 1024,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("has no list of stop patterns if neither template nor user has one, since servers refuse an empty one", async () => {
    expect(await sent({ template: plain })).not.toHaveProperty("stop");
  });

  test("has the call's parameters before all, and at most four patterns", async () => {
    const stop = ["a", "b", "d"];
    expect(
      await sent({ model: "llama", stop }, { model: "phi", max_tokens: 9, stop: "c", stream_options: null }),
    ).toEqual({
      model: "phi",
      prompt: "[INST] Child : why?\n\n [/INST]\n\nTeacher : ",
      stop: ["c", "a", "b", "d"],
      max_tokens: 9,
      stream: true,
    });
  });

  test("is not made where the template can't render, a tool is offered, or the output is native", async () => {
    const { baseURL, bodies } = await streaming(piece("Hi!", "stop"));
    const call = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "c", name: "look", arguments: "{}" }] });
    const failure = async (fields: Parameters<typeof callOf>[0]) => perform(handlerOf(baseURL), callOf(fields)).outcome;
    const refused = (message: RegExp): object => ({
      type: "failed",
      failure: { kind: "bad_request", retryable: false, message: expect.stringMatching(message) },
    });
    expect(await failure({ messages: [call] })).toEqual(refused(/message 1\.1 has a tool call/u));
    expect(await failure({ tools: [{ name: "look", digest: "d" }] })).toEqual(refused(/"look".*openaiChat/u));
    const output = { mode: "native", name: "answer", schema: {}, repairs: 0 } as const;
    expect(await failure({ output })).toEqual(refused(/prompted/u));
    expect(bodies).toEqual([]);
  });
});

test("without a template there is no handler", () => {
  // Cast: a caller in JavaScript may do so.
  const options = { baseURL: "http://127.0.0.1:1/v1" } as TextCompletionOptions;
  expect(() => textCompletion(options)).toThrow(ConfigurationError);
});

test("a stop pattern that is not a list is refused, since its characters would be patterns", () => {
  // Cast: a caller in JavaScript may do so.
  const options = { baseURL: "http://127.0.0.1:1/v1", template, stop: "</s>" } as unknown as TextCompletionOptions;
  expect(() => textCompletion(options)).toThrow("textCompletion: stop must be a list of texts (got a text)");
});
