import { describe, expect, test } from "vitest";
import { fromChatMessages, toChatMessages } from "../../src/chat/messages.ts";
import { right, threadOf } from "../laws.ts";

describe("a conversation", () => {
  test("with calls of one reply under one id has them kept apart", () => {
    const toolCalls = ["1", "2"].map((given) => ({ id: "a", name: "f", arguments: given }));
    const results = ["one", "two"].map((content) => ({ role: "tool" as const, toolCallId: "a", content }));
    const messages = threadOf({ system: null, turns: [[{ role: "assistant", toolCalls }, ...results]], losses: [] });
    const { value, losses } = toChatMessages(messages);
    expect(value).toMatchObject([
      { tool_calls: [{ id: "a" }, { id: "call_1_0_1" }] },
      { tool_call_id: "a", content: "one" },
      { tool_call_id: "call_1_0_1", content: "two" },
    ]);
    expect(losses.map(({ index, path }) => [index, path])).toEqual([
      [0, "parts.1.providerCallId"],
      [2, "parts.0.providerCallId"],
    ]);
    expect(right(fromChatMessages(value)).losses).toEqual([]);
  });
});
