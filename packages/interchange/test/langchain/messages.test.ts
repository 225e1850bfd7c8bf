import { describe, expect, test } from "vitest";
import { fromLangChainMessages, toLangChainMessages } from "../../src/langchain/messages.ts";
import { keepsTheLaws, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toLangChainMessages, read: fromLangChainMessages });
});

test("calls have their arguments as LangChain's own do, none for an empty text, and beside them their exact texts", () => {
  const texts = ['{"city":"Oslo"}', "", '{ "n": 1 }', "no JSON"];
  const toolCalls = texts.map((text, index) => ({ id: `c${index}`, name: "f", arguments: text }));
  const results = toolCalls.map(({ id }) => ({ role: "tool" as const, toolCallId: id, content: "" }));
  const turn = [{ role: "assistant" as const, toolCalls }, ...results];
  const { value } = toLangChainMessages(threadOf({ system: null, turns: [turn], losses: [] }));
  const parsed = [{ city: "Oslo" }, {}, { n: 1 }].map((args, index) => ({ id: `c${index}`, args }));
  expect(value[0]).toMatchObject({
    data: {
      tool_calls: parsed,
      invalid_tool_calls: [{ id: "c3", args: "no JSON" }],
      additional_kwargs: { colloquy: { calls: toolCalls } },
    },
  });
});
