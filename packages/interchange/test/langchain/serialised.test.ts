import { describe, expect, test } from "vitest";
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { fromLangChainMessages } from "../../src/index.ts";

const messages = [
  new SystemMessage("Be brief."),
  new HumanMessage({ content: "Oslo?", id: "h", name: "ada" }),
  new AIMessage({ content: "", tool_calls: [{ id: "c", name: "weather", args: { city: "Oslo" } }] }),
  new ToolMessage({ content: "rain", tool_call_id: "c", name: "weather", status: "success" }),
  new AIMessageChunk("Rain."),
  new ChatMessage("Thanks.", "user"),
];
const stored: readonly { readonly type: string; readonly data: object }[] = mapChatMessagesToStoredMessages(messages);

/** The form that Python's `model_dump` and LangGraph's server write. */
const flat = stored.map(({ type, data }) => ({
  ...data,
  type: { generic: "chat" }[type] ?? type,
}));

const pythonClasses = ["System", "Human", "AI", "Tool", "AI", "Chat"];
const dumped = flat.map((kwargs, index) => ({
  lc: 1,
  type: "constructor",
  id: ["langchain", "schema", "messages", `${pythonClasses[index]}Message`],
  kwargs,
}));

describe("fromLangChainMessages", () => {
  const read = (value: unknown) => fromLangChainMessages(JSON.parse(JSON.stringify(value)));

  test.each([
    ["JSON.stringify writes in JavaScript", messages],
    ["dumpd writes in Python", dumped],
    ["model_dump writes in Python", flat],
  ])("reads messages as %s like stored messages", (_, serialised) => {
    expect(read(stored)).toMatchObject({ _tag: "Right", right: { losses: [] } });
    expect(read(serialised)).toEqual(read(stored));
  });

  test("reads blocks by their types: one of another kind that has a text is no text", () => {
    const blocks = [
      { type: "text", text: "Hi." },
      { type: "citation", text: "of a book" },
    ];
    const imported = read([{ type: "human", data: { content: blocks } }]);
    expect(imported).toMatchObject({
      right: { turns: [[{ content: [{ type: "text", text: "Hi." }, { type: "opaque" }] }]] },
    });
  });

  test("names the type of a serialised message that is not part of a conversation", () => {
    const removal = { lc: 1, type: "constructor", id: ["langchain", "messages", "RemoveMessage"], kwargs: { id: "h" } };
    expect(read([removal])).toMatchObject({ left: { reason: expect.stringContaining("it removes another one") } });
    const result = { type: "function", data: { content: "4", name: "dice" } };
    expect(read([result])).toMatchObject({ left: { reason: expect.stringContaining("give it as a tool message") } });
  });
});
