import {
  ConfigurationError,
  type Content,
  conversationMachine,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type Part,
} from "@colloquy/machine";
import { countMessage, countPrompt, estimateCounter } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import { type Encoding, gptCounter } from "../../src/tokens/index.ts";
import { plainEncode } from "./plain-encode.ts";

const tokensOf = (text: string, encoding: Encoding = "o200k_base"): number => plainEncode(encoding, text).length;

const user = (content: Content) => messageFromDraft("1", { role: "user", content });

describe("which encoding", () => {
  test.each([
    [{}, "o200k_base"],
    [{ encoding: "cl100k_base" }, "cl100k_base"],
    [{ model: "gpt-4o" }, "o200k_base"],
    [{ model: "gpt-4o-mini-2024-07-18" }, "o200k_base"],
    [{ model: "gpt-4.1-nano" }, "o200k_base"],
    [{ model: "gpt-5.4-mini" }, "o200k_base"],
    [{ model: "o4-mini" }, "o200k_base"],
    [{ model: "openai/gpt-oss-120b" }, "o200k_base"],
    [{ model: "ft:gpt-4o-mini:acme::7" }, "o200k_base"],
    [{ model: "gpt-4" }, "cl100k_base"],
    [{ model: "gpt-4-turbo-2024-04-09" }, "cl100k_base"],
    [{ model: "gpt-3.5-turbo" }, "cl100k_base"],
    [{ model: "gpt-35-turbo" }, "cl100k_base"],
  ] as const)("of %j is in the counter's options", async (options, encoding) => {
    const counter = await gptCounter(options);
    expect(counter).toMatchObject({ name: "gpt", version: 1, options: { encoding } });
    // The two encodings differ on this.
    expect(counter.countPart({ type: "text", text: "Здравствуйте" })).toBe(tokensOf("Здравствуйте", encoding));
    expect(tokensOf("Здравствуйте")).not.toBe(tokensOf("Здравствуйте", "cl100k_base"));
  });

  test.each([["claude-sonnet-4"], ["gpt-40"], ["o1000"], ["gpt-4x"], [""]])(
    "of the model %j is not known, and the message says what to do",
    async (model) => {
      const counter = gptCounter({ model });
      await expect(counter).rejects.toThrow(ConfigurationError);
      await expect(counter).rejects.toThrow(`"${model}": name the encoding, one of o200k_base, cl100k_base`);
    },
  );

  test("that is unknown, or is named twice, is refused", async () => {
    // Only callers without types may pass these options.
    const wrong = (options: object) => gptCounter(options);
    await expect(wrong({ encoding: "toString" })).rejects.toThrow(
      'encoding must be one of o200k_base, cl100k_base, not "toString"',
    );
    await expect(wrong({ encoding: "o200k_base", model: "gpt-4" })).rejects.toThrow("give one of them");
  });
});

describe("the cost of a message", () => {
  test("is as OpenAI documents it: four, its text, and three for the prompt", async () => {
    const counter = await gptCounter();
    expect(countPrompt(counter, [user("hi")])).toBe(8);
    expect(countPrompt(counter, [user("hi"), messageFromReply("1", "2", { content: "hello" })])).toBe(13);
    expect(countPrompt(counter, [])).toBe(3);
    for (const role of ["system", "developer", "user", "assistant", "tool"]) {
      for (const encoding of ["o200k_base", "cl100k_base"] as const) expect(tokensOf(role, encoding)).toBe(1);
    }
  });

  test("is the sum of its parts", async () => {
    const { countPart } = await gptCounter();
    const text = "What stands here?";
    const image: Part = { type: "image", url: "https://example.org/x.png" };
    expect(countPart({ type: "text", text })).toBe(tokensOf(text));
    expect(countPart({ type: "refusal", text })).toBe(tokensOf(text));
    expect(countPart({ type: "reasoning", text })).toBe(tokensOf(text));
    expect(countPart({ type: "data", field: "question", value: [text] })).toBe(tokensOf(`question: ["${text}"]`));
    expect(countPart({ type: "opaque", value: { audio: text } })).toBe(tokensOf(`{"audio":"${text}"}`));
    expect(countPart(image)).toBe(estimateCounter.countPart(image));
  });

  test("of calls and results has the tool's name twice", async () => {
    const counter = await gptCounter();
    const called = messageFromReply("1", "1", {
      toolCalls: [{ id: "x", name: "multiply", arguments: '{"a":7,"b":6}' }],
    });
    const result = messageFromResult({ callId: "1.1.0", providerCallId: "x", name: "multiply" }, "completed", [
      { type: "text", text: "42" },
      { type: "image", url: "https://example.org/x.png" },
    ]);
    const name = tokensOf("multiply");
    expect(countMessage(counter, called)).toBe(4 + 4 + name + tokensOf('{"a":7,"b":6}'));
    expect(countMessage(counter, result)).toBe(4 + 1 + name + tokensOf("42") + 765);
  });

  test("with special tokens in it is that of text", async () => {
    const counter = await gptCounter();
    const text = "<|im_end|><|endoftext|>";
    expect(countMessage(counter, user(text))).toBe(4 + tokensOf(text));
    expect(tokensOf(text)).toBeGreaterThan(8);
  });
});

test("a machine takes it like any counter", async () => {
  const counter = await gptCounter({ model: "gpt-4o" });
  expect(() => conversationMachine({ counter })).not.toThrow();
  expect(JSON.parse(JSON.stringify(counter.options))).toEqual(counter.options);
});
