import { describe, expect, test } from "vitest";
import { base64Of } from "../../src/exchange/plain-json.ts";
import { toChatMessages } from "../../src/chat/messages.ts";
import { fromUiMessages, toUiMessages } from "../../src/ai-sdk/ui-messages.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toUiMessages, read: fromUiMessages });
});

const roundTrip = (messages: readonly unknown[]) => toUiMessages(threadOf(right(fromUiMessages(messages))));

const user = { id: "u1", role: "user", parts: [{ type: "text", text: "Hi." }] };
const step = { type: "step-start" };
const tool = (fields: object) => ({ type: "tool-f", toolCallId: "a", input: { city: "Oslo" }, ...fields });
const model = (...parts: readonly object[]) => ({ id: "m1", role: "assistant", parts });
const rain = tool({ state: "output-available", output: "rain" });

describe("messages", () => {
  test("of a model are its steps, with a round for each that called tools", () => {
    const messages = [
      { id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] },
      { ...user, metadata: { sentAt: 1 } },
      {
        ...model(
          step,
          { type: "reasoning", text: "hm", id: "r1", providerMetadata: { anthropic: { signature: "s" } } },
          { type: "text", text: "One moment." },
          tool({ state: "output-available", output: { sky: "clear" }, title: "Weather" }),
          { type: "dynamic-tool", toolName: "g", toolCallId: "b", input: {}, state: "output-available", output: "ok" },
          step,
          { type: "text", text: "Clear." },
        ),
        metadata: { model: "x" },
      },
    ];
    const read = right(fromUiMessages(messages));
    expect(read.losses).toEqual([]);
    expect(read.turns).toHaveLength(1);
    expect(threadOf(read).map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
      ["system", "text"],
      ["user", "text"],
      ["assistant", "reasoning", "text", "toolCall", "toolCall"],
      ["tool", "toolResult"],
      ["tool", "toolResult"],
      ["assistant", "text"],
    ]);
    expect(roundTrip(messages)).toEqual({ value: messages, losses: [] });
  });

  test("keep sources, data, files and what a provider ran, for this format only", () => {
    const messages = [
      {
        id: "u1",
        role: "user",
        parts: [
          { type: "text", text: "Look." },
          { type: "file", mediaType: "image/png", url: "data:image/png;base64,AQI=" },
          { type: "file", mediaType: "application/pdf", filename: "a.pdf", url: "data:application/pdf;base64,AQ==" },
          { type: "file", mediaType: "application/pdf", url: "https://example.org/a.pdf" },
          { type: "data-place", id: "d1", data: { city: "Oslo" } },
        ],
      },
      model(
        step,
        { type: "source-url", sourceId: "1", url: "https://example.org" },
        { type: "source-document", sourceId: "2", mediaType: "text/plain", title: "x" },
        { type: "data-progress", data: 1 },
        { type: "custom", kind: "openai.compaction" },
        tool({ state: "output-available", output: [], providerExecuted: true }),
        { type: "text", text: "There." },
      ),
    ];
    expect(roundTrip(messages)).toEqual({ value: messages, losses: [] });
    const { value } = toChatMessages(threadOf(right(fromUiMessages(messages))));
    expect(value).toMatchObject([
      { role: "user", content: [{ type: "text" }, { type: "image_url" }, { type: "file" }] },
      { role: "assistant", content: "There." },
    ]);
  });

  test("in which a user steers are several", () => {
    const steering = { type: "steering-message", id: "u2", parts: [{ type: "text", text: "In Dutch!" }] };
    const read = right(fromUiMessages([user, model(step, rain, steering, step, { type: "text", text: "Regen." })]));
    expect(read.turns.map((turn) => turn.map(({ role }) => role))).toEqual([
      ["user", "assistant", "tool"],
      ["user", "assistant"],
    ]);
    expect(read.losses).toMatchObject([{ index: 1, path: "parts.2" }]);
  });

  test("have ids of their own, and those that a thread made are made anew", () => {
    const { value } = roundTrip([user, { ...model(step, { type: "text", text: "Hi." }), id: "1.1" }]);
    expect(value.map(({ id }) => id)).toEqual(["u1", "1.1"]);
    expect(right(fromUiMessages([{ ...user, id: "1.0" }])).turns).toEqual([[{ role: "user", content: "Hi." }]]);
  });

  test("keep what other formats put beside texts, names and fields of providers where an import finds them", () => {
    const messages = threadOf({
      system: { role: "developer", content: "Be brief.", name: "ops" },
      turns: [
        [
          {
            role: "user",
            name: "ada",
            metadata: { a: 1 },
            provider: { cache_control: { type: "ephemeral" } },
            content: [
              { type: "text", text: "Look.", provider: { cache_control: { type: "ephemeral" } } },
              { type: "data", field: "n", value: [1] },
              { type: "image", url: "https://example.org/a.png", detail: "low" },
            ],
          },
          {
            role: "assistant",
            name: "bot",
            content: [
              { type: "reasoning", text: "hm", provider: { fields: ["reasoning"] } },
              { type: "refusal", text: "No." },
            ],
            toolCalls: [{ id: null, name: "f", arguments: "{ }", provider: { extra_content: { x: 1 } } }],
            provider: { reasoning_details: [{ type: "reasoning.text" }] },
          },
          {
            role: "tool",
            toolCallId: null,
            content: [
              { type: "text", text: "a" },
              { type: "opaque", value: { any: "thing" } },
            ],
          },
          { role: "assistant", name: "bot" },
        ],
      ],
      losses: [],
    });
    const { value, losses } = toUiMessages(messages);
    expect(losses).toEqual([]);
    expect(threadOf(right(fromUiMessages(value)))).toEqual(messages);
  });

  test("with an id that is used again by a later step have the calls kept apart, and find it again", () => {
    const round = [
      { role: "assistant" as const, toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
      { role: "tool" as const, toolCallId: "a", content: "1" },
    ];
    const messages = threadOf({ system: null, turns: [[...round, ...round]], losses: [] });
    const { value, losses } = toUiMessages(messages);
    expect(losses).toEqual([]);
    expect(value).toMatchObject([{ parts: [step, { toolCallId: "a" }, step, { toolCallId: "call_1_2_0" }] }]);
    expect(threadOf(right(fromUiMessages(value)))).toEqual(messages);
  });
});

describe("calls", () => {
  test.each([
    [tool({ state: "output-error", errorText: "no such city" }), "no such city", "failed"],
    [tool({ state: "output-denied", approval: { id: "ap", approved: false, reason: "no!" } }), "no!", "refused"],
  ])("%j bring their end in words, and go back as they came", (part, text, outcome) => {
    const messages = [user, model(step, part)];
    const read = right(fromUiMessages(messages));
    expect(read.turns[0]?.[2]).toMatchObject({ role: "tool", content: [{ type: "text", text }] });
    expect(read.losses).toMatchObject([{ index: 1, path: "parts.1.state", what: `the outcome "${outcome}"` }]);
    expect(roundTrip(messages).value).toEqual(messages);
  });

  test("that were approved say so still", () => {
    const messages = [
      user,
      model(step, tool({ state: "output-available", output: "rain", approval: { id: "ap", approved: true } })),
    ];
    expect(roundTrip(messages)).toEqual({ value: messages, losses: [] });
  });

  test("that failed with arguments that are no JSON keep them as they were", () => {
    const part = { type: "tool-f", toolCallId: "a", state: "output-error", rawInput: "{oops", errorText: "no JSON" };
    expect(right(fromUiMessages([user, model(part)])).turns).toMatchObject([
      [{}, { toolCalls: [{ id: "a", arguments: "{oops" }] }, { role: "tool" }],
    ]);
  });

  test.each([
    tool({ state: "input-available" }),
    tool({ state: "approval-requested", approval: { id: "ap" } }),
    tool({ state: "approval-responded", approval: { id: "ap", approved: true } }),
    tool({ state: "output-available", output: "ra", preliminary: true }),
  ])("%j have no result yet", (part) => {
    const messages = [user, model(step, { type: "text", text: "One moment." }, part)];
    expect(fromUiMessages(messages)).toMatchObject({
      left: { index: 1, reason: expect.stringContaining('call "a" of "f" in item 1 has no result') },
    });
    const read = right(fromUiMessages(messages, { repair: true }));
    expect(read.turns[0]?.[2]).toMatchObject({ content: "No result: the call was interrupted." });
  });

  test("that were still being written are a problem, and a repair leaves them out", () => {
    const messages = [user, model(step, tool({ state: "input-streaming", input: { city: "Os" } }))];
    expect(fromUiMessages(messages)).toMatchObject({
      left: {
        index: 1,
        reason: 'call "a" of "f" in item 1 was still being written: leave it out; or import with { repair: true }',
      },
    });
    const read = right(fromUiMessages(messages, { repair: true }));
    expect(read.turns).toMatchObject([[{ role: "user" }]]);
    expect(read.turns[0]).toHaveLength(1);
    expect(read.losses).toMatchObject([{ index: 1, why: "it was still being written" }]);
  });
});

describe("what is no UI message", () => {
  test.each([
    [[{ id: "1", role: "tool", parts: [] }], "item 0 is not a UI message: role"],
    [[{ id: "1", role: "user", content: "Hi." }], "item 0 is not a UI message: parts"],
    [
      [{ ...user, parts: [{ type: "banana" }] }],
      'item 0 has a part of the type "banana", which UI messages are not known',
    ],
    [[{ ...user, parts: [{ type: "text" }] }], 'item 0 is not a part of the type "text": text'],
    [[model({ type: "tool-f", state: "done", toolCallId: "a" })], 'item 0 is not a part of the type "tool-f": state'],
    [[model({ type: "dynamic-tool", state: "input-available", toolCallId: "a" })], "a dynamic tool without a toolName"],
  ])("%j is refused in words", (messages, reason) => {
    expect(fromUiMessages(messages)).toMatchObject({ left: { reason: expect.stringContaining(reason) } });
  });
});

test("bytes are written as base64", () => {
  for (const bytes of [[], [0], [255, 0], [1, 2, 254], [250, 251, 252, 253]])
    expect(base64Of(Uint8Array.from(bytes))).toBe(Buffer.from(bytes).toString("base64"));
});
