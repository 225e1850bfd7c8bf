import { describe, expect, test } from "vitest";
import { fromResponseItems, toResponseItems } from "../../src/responses/items.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toResponseItems, read: fromResponseItems });
});

describe("imported content", () => {
  test("reports merged and lost content", () => {
    const messages = threadOf({
      system: null,
      turns: [
        [
          { role: "assistant", content: "One moment.", metadata: { a: 1 } },
          { role: "assistant", name: "bot", toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
          { role: "tool", toolCallId: "a", content: "1" },
        ],
      ],
      losses: [],
    });
    expect(toResponseItems(messages).losses.map(({ index, path, why }) => `${index} ${path}: ${why}`)).toEqual([
      "0 : what follows is read as one message with it",
      "0 metadata: an item has no place for it",
      "1 : it is read as one message with what is beside it",
      "1 name: an item has no place for it",
    ]);
  });

  test("writes a data field of a reply as its text", () => {
    const content = [{ type: "data", field: "n", value: 1 }] as const;
    const messages = threadOf({ system: null, turns: [[{ role: "assistant", content }]], losses: [] });
    expect(toResponseItems(messages).value).toMatchObject([{ role: "assistant", content: "n: 1" }]);
  });

  test("reports an empty message beside others of a reply", () => {
    const user = { type: "message", role: "user", content: "Hi." };
    const empty = { type: "message", role: "assistant", content: [] };
    const call = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
    const result = { type: "function_call_output", call_id: "a", output: "1" };
    const lossesOf = (...items: object[]) =>
      right(fromResponseItems([user, ...items])).losses.map(({ index, what }) => `${index} ${what}`);
    const told = "2 an empty message of the model";
    expect([
      lossesOf(empty, call, result),
      lossesOf(call, empty, result),
      lossesOf(empty),
      lossesOf({ ...empty, content: "Hm." }, call, result),
    ]).toEqual([[told], [told], [], []]);
  });

  test("reports the content that it drops", () => {
    const messages = threadOf({
      system: null,
      turns: [
        [
          { role: "user", content: "Hi.", name: "ada", metadata: { a: 1 } },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hm", provider: { fields: ["reasoning"] } },
              { type: "text", text: "Hi." },
            ],
            toolCalls: [{ id: null, name: "f", arguments: "{}", provider: { extra_content: { google: {} } } }],
          },
          { role: "tool", toolCallId: null, content: [{ type: "data", field: "n", value: 1 }] },
        ],
      ],
      losses: [],
    });
    const { value, losses } = toResponseItems(messages);
    expect(value).toEqual([
      { type: "message", role: "user", content: "Hi." },
      { type: "message", role: "assistant", content: "Hi." },
      { type: "function_call", call_id: "call_1_1_0", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1_1_0", output: "n: 1" },
    ]);
    expect(losses.map(({ messageId, path }) => `${messageId} ${path}`)).toEqual([
      "1.0 name",
      "1.0 metadata",
      "1.1 parts.0",
      "1.1 parts.2.providerCallId",
      "1.1 parts.2.provider",
      "1.1.0 parts.0.content.0",
      "1.1.0 parts.0.providerCallId",
    ]);
  });
});
