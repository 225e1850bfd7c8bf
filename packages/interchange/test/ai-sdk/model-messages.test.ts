import { describe, expect, test } from "vitest";
import { fromModelMessages, toModelMessages } from "../../src/ai-sdk/model-messages.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toModelMessages, read: fromModelMessages });
});

const roundTrip = (items: readonly unknown[]) => toModelMessages(threadOf(right(fromModelMessages(items))));

const call = { type: "tool-call", toolCallId: "a", toolName: "f", input: { city: "Oslo" } };
const resultWith = (output: unknown) => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: "a", toolName: "f", output }],
});
const asked = { role: "assistant", content: [call] };

describe("messages", () => {
  test("come with URLs and bytes as programs have them", () => {
    const read = right(
      fromModelMessages([
        {
          role: "user",
          content: [
            { type: "image", image: new URL("https://example.org/a.png") },
            { type: "image", image: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) },
            { type: "image", image: "iVBORw0KGgo=", mediaType: undefined },
            { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: new Uint8Array([1]).buffer },
            { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/b.png") } },
            { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2]) } },
          ],
        },
      ]),
    );
    expect(read.turns).toEqual([
      [
        {
          role: "user",
          content: [
            { type: "image", url: "https://example.org/a.png" },
            { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
            { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
            {
              type: "opaque",
              value: { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQ==" } },
            },
            { type: "image", url: "https://example.org/b.png" },
            { type: "image", url: "data:image/png;base64,AQI=" },
          ],
        },
      ],
    ]);
    expect(read.losses.map(({ path, what }) => `${path}: ${what}`)).toEqual([
      'content.4.mediaType: the media type "image/png"',
    ]);
  });

  test("keep options of providers, reasoning, and what a provider ran by itself", () => {
    const items = [
      { role: "system", content: "Be brief.", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
      { role: "user", content: [{ type: "text", text: "Hi.", providerOptions: { openai: { x: 1 } } }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s" } } },
          { type: "tool-call", toolCallId: "ws", toolName: "web_search", input: {}, providerExecuted: true },
          { type: "tool-result", toolCallId: "ws", toolName: "web_search", output: { type: "json", value: [1] } },
          { type: "custom", kind: "openai.compaction", providerOptions: { openai: { id: "c" } } },
          { type: "text", text: "Yes." },
          { ...call, providerOptions: { google: { thoughtSignature: "t" } } },
        ],
        providerOptions: { openai: { itemId: "msg_1" } },
      },
      resultWith({ type: "text", value: "rain" }),
    ];
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
  });

  test.each([
    { type: "text", value: "rain" },
    { type: "json", value: { sky: ["grey", null] } },
    {
      type: "content",
      value: [
        { type: "text", text: "look" },
        { type: "image-url", url: "https://example.org/a.png" },
      ],
    },
    { type: "content", value: [{ type: "file", mediaType: "image/png", data: { type: "data", data: "AQI=" } }] },
    { type: "content", value: [{ type: "custom", providerOptions: { x: { y: 1 } } }] },
  ])("bring an output %j and take it back", (output) => {
    expect(right(fromModelMessages([asked, resultWith(output)])).losses).toEqual([]);
    expect(roundTrip([asked, resultWith(output)])).toEqual({ value: [asked, resultWith(output)], losses: [] });
  });

  test.each([
    [{ type: "error-text", value: "no such city" }, "no such city", "failed"],
    [{ type: "error-json", value: { code: 1 } }, '{"code":1}', "failed"],
    [{ type: "execution-denied", reason: "not now" }, "not now", "refused"],
    [{ type: "execution-denied" }, "Tool call execution denied.", "refused"],
  ])("bring an output %j, and say that the outcome is in its words only", (output, text, outcome) => {
    const read = right(fromModelMessages([asked, resultWith(output)]));
    expect(read.turns[0]?.[1]).toMatchObject({ content: [{ type: "text", text }] });
    expect(read.losses).toMatchObject([{ index: 1, what: `the outcome "${outcome}"` }]);
    expect(roundTrip([asked, resultWith(output)]).value).toEqual([asked, resultWith(output)]);
  });

  test("say what of a call is left out", () => {
    const { losses } = right(
      fromModelMessages([
        { role: "assistant", content: [{ ...call, dynamic: true }] },
        resultWith({ type: "text", value: "1" }),
      ]),
    );
    expect(losses).toMatchObject([{ index: 0, what: expect.stringContaining("dynamic") }]);
  });

  test("keep the exact string of arguments, names and metadata where an import finds them", () => {
    const messages = threadOf({
      system: { role: "developer", content: "Be brief." },
      turns: [
        [
          { role: "user", content: "Hi.", name: "ada", metadata: { a: 1 } },
          {
            role: "assistant",
            toolCalls: [
              { id: "a", name: "f", arguments: '{ "city": "Oslo" }' },
              { id: null, name: "f", arguments: "{oops", provider: { extra_content: { x: 1 } } },
            ],
          },
          { role: "tool", toolCallId: "a", content: "1" },
          { role: "tool", toolCallId: null, content: "2" },
        ],
      ],
      losses: [],
    });
    const { value, losses } = toModelMessages(messages);
    expect(losses).toEqual([]);
    expect(value).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi.", providerOptions: { colloquy: { name: "ada", metadata: { a: 1 } } } },
      { role: "assistant", content: [{ input: { city: "Oslo" } }, { input: "{oops" }] },
      { role: "tool", content: [{ toolCallId: "a" }, { toolCallId: "call_1_1_1" }] },
    ]);
    expect(threadOf(right(fromModelMessages(value)))).toEqual(messages);
  });
});

describe("approvals", () => {
  const request = { type: "tool-approval-request", approvalId: "ap", toolCallId: "a" };
  const response = (approved: boolean) => ({
    type: "tool-approval-response",
    approvalId: "ap",
    approved,
    reason: "no!",
  });
  const waiting = { role: "assistant", content: [call, request] };

  test("that led to a result are left out, and reported", () => {
    const { content } = resultWith({ type: "text", value: "rain" });
    const read = right(fromModelMessages([waiting, { role: "tool", content: [response(true), ...content] }]));
    expect(read.turns).toMatchObject([[{ role: "assistant" }, { role: "tool", content: "rain" }]]);
    expect(read.losses.map(({ what }) => what)).toEqual([
      "an approval that was asked for",
      "the answer to an approval",
    ]);
  });

  test("that were denied are the result", () => {
    const read = right(fromModelMessages([waiting, { role: "tool", content: [response(false)] }]));
    expect(read.turns).toMatchObject([[{ role: "assistant" }, { role: "tool", toolCallId: "a", content: "no!" }]]);
    const { content } = resultWith({ type: "execution-denied", reason: "no!" });
    const twice = right(fromModelMessages([waiting, { role: "tool", content: [response(false), ...content] }]));
    expect(twice.turns[0]).toHaveLength(2);
  });

  test.each([
    ["wait", [waiting]],
    ["were granted", [waiting, { role: "tool", content: [response(true)] }]],
  ])("that %s leave a call without a result", (_, messages) => {
    expect(fromModelMessages(messages)).toMatchObject({
      left: { index: 0, reason: expect.stringContaining('call "a" of "f" in item 0 has no result') },
    });
  });
});

describe("what is no model message", () => {
  test.each([
    [[{ role: "user", content: [{ type: "video" }] }], "item 0 is not a model message: content"],
    [[{ role: "system", content: [] }], "item 0 is not a model message: content"],
    [[{ role: "tool", content: "x" }], "item 0 is not a model message: content"],
    [[asked, resultWith({ type: "unknown", value: 1 })], "item 1 is not a model message: content.0.output.type"],
    [[{ role: "user", content: "Hi.", providerOptions: { x: 1 } }], "expected an object of fields for each provider"],
    [[{ role: "function", content: "Hi." }], "item 0 is not a model message: role"],
  ])("%j is refused in words", (messages, reason) => {
    expect(fromModelMessages(messages)).toMatchObject({ left: { reason: expect.stringContaining(reason) } });
  });
});
