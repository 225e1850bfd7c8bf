import { describe, expect, test } from "vitest";
import { base64Of } from "../../src/exchange/json.ts";
import { fromUiMessages, toUiMessages } from "../../src/ai-sdk/ui-messages.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toUiMessages, read: fromUiMessages });
});

const step = { type: "step-start" };

describe("messages", () => {
  test("keep other formats' additional fields, names and provider fields for a later import", () => {
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

test("bytes are written as base64", () => {
  for (const bytes of [[], [0], [255, 0], [1, 2, 254], [250, 251, 252, 253]])
    expect(base64Of(Uint8Array.from(bytes))).toBe(Buffer.from(bytes).toString("base64"));
});
