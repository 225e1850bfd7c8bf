import { describe, expect, test } from "vitest";
import { toChatMessages } from "../../src/chat/messages.ts";
import { fromResponseItems, toResponseItems } from "../../src/responses/items.ts";
import { keepsTheLaws, right, threadOf } from "../laws.ts";

describe("laws", () => {
  keepsTheLaws({ write: toResponseItems, read: fromResponseItems });
});

const roundTrip = (items: readonly unknown[]) => toResponseItems(threadOf(right(fromResponseItems(items))));

const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Hm." }],
  encrypted_content: "gAAA",
};
const call = { type: "function_call", call_id: "a", name: "f", arguments: "{}", id: "fc_1", status: "completed" };
const output = { type: "function_call_output", call_id: "a", output: "done" };
const message = {
  type: "message",
  role: "assistant",
  id: "msg_1",
  status: "completed",
  phase: "final_answer",
  content: [{ type: "output_text", text: "Yes.", annotations: [{ type: "url_citation", url: "https://example.org" }] }],
};

describe("items", () => {
  test("of one output are one reply, and go back as they came", () => {
    const items = [{ type: "message", role: "user", content: "Hi." }, reasoning, call, output, reasoning, message];
    const read = right(fromResponseItems(items));
    expect(read.losses).toEqual([]);
    expect(read.turns).toHaveLength(1);
    expect(threadOf(read).map(({ role, parts }) => [role, ...parts.map(({ type }) => type)])).toEqual([
      ["user", "text"],
      ["assistant", "reasoning", "toolCall"],
      ["tool", "toolResult"],
      ["assistant", "reasoning", "text"],
    ]);
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
  });

  test("of built-in tools, references and approvals are kept, for this format only", () => {
    const items = [
      { type: "message", role: "user", content: "Hi." },
      { type: "item_reference", id: "rs_0" },
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
      { type: "message", role: "assistant", content: "Found." },
      { type: "mcp_approval_request", id: "mcpr_1", name: "f", arguments: "{}", server_label: "s" },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
      { type: "mcp_call", id: "mcp_1", name: "f", arguments: "{}", server_label: "s", output: "1" },
      { type: "additional_tools", role: "developer", tools: [] },
      { type: "compaction", id: "cmp_1", encrypted_content: "AA" },
    ];
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
    const { value, losses } = toChatMessages(threadOf(right(fromResponseItems(items))));
    expect(value.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Hi."],
      ["assistant", "Found."],
      ["user", ""],
      ["assistant", ""],
      ["developer", ""],
      ["assistant", ""],
    ]);
    expect(losses.filter(({ what }) => what === "an attachment")).toHaveLength(7);
  });

  test("a reference alone may leave out its type", () => {
    expect(roundTrip([{ id: "rs_0" }]).value).toEqual([{ type: "item_reference", id: "rs_0" }]);
  });

  test("of tools with an item of their own are rounds when an output answers them", () => {
    const items = [
      { type: "computer_call", call_id: "c", id: "cu_1", action: { type: "screenshot" }, status: "completed" },
      { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", image_url: "data:x" } },
      { type: "tool_search_call", call_id: "t", execution: "client", arguments: {} },
      { type: "tool_search_output", call_id: "t", execution: "client", tools: [] },
      { type: "tool_search_call", id: "ts_1" },
      { type: "tool_search_output", id: "ts_1" },
    ];
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
    expect(fromResponseItems(items.slice(0, 1))).toMatchObject({
      left: { index: 0, reason: expect.stringContaining('call "c" of "computer_call" in item 0 has no result') },
    });
  });

  test("of custom tools keep their input as it is", () => {
    const items = [
      { type: "custom_tool_call", call_id: "p", name: "patch", input: "*** begin" },
      {
        type: "custom_tool_call_output",
        call_id: "p",
        output: [
          { type: "input_text", text: "ok" },
          { type: "input_text", text: "!" },
        ],
      },
    ];
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
    expect(toChatMessages(threadOf(right(fromResponseItems(items)))).value[0]?.tool_calls).toEqual([
      { id: "p", type: "custom", custom: { name: "patch", input: "*** begin" } },
    ]);
  });

  test("content keeps texts, images, files and refusals", () => {
    const items = [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Look." },
          { type: "input_image", image_url: "https://example.org/a.png", detail: "low" },
          { type: "input_image", file_id: "file_1", detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
          { type: "input_file", file_url: "https://example.org/a.pdf" },
        ],
      },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    ];
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
    expect(threadOf(right(fromResponseItems(items)))[0]?.parts.map(({ type }) => type)).toEqual([
      "text",
      "image",
      "opaque",
      "opaque",
      "opaque",
    ]);
  });

  test("a second message of a model is a reply of its own", () => {
    const said = { type: "message", role: "assistant", content: "One." };
    const items = [said, { ...said, content: "Two." }, call, output];
    expect(threadOf(right(fromResponseItems(items))).map(({ role }) => role)).toEqual([
      "assistant",
      "assistant",
      "tool",
    ]);
    expect(roundTrip(items)).toEqual({ value: items, losses: [] });
  });

  test("what stands behind a call keeps its place, and a second message of a round its fields", () => {
    const items = [{ ...message, id: "msg_0" }, call, message, { ...call, call_id: "b", id: "fc_2" }, reasoning];
    const round = [...items, output, { ...output, call_id: "b" }];
    const read = right(fromResponseItems(round));
    expect(read.losses).toEqual([]);
    expect(threadOf(read)[0]?.parts.map(({ type }) => type)).toEqual([
      "text",
      "text",
      "reasoning",
      "toolCall",
      "toolCall",
    ]);
    expect(roundTrip(round)).toEqual({ value: round, losses: [] });
  });

  test("a text alone is a user's message", () => {
    expect(right(fromResponseItems("Hi.")).turns).toEqual([[{ role: "user", content: "Hi." }]]);
  });

  test.each([
    [[{ type: "banana" }], 'item 0 has the type "banana", which the Responses API is not known to have'],
    [[{ type: "message", role: "tool", content: "" }], "item 0 is not a message: role"],
    [[{ role: "user", content: [{ type: "input_text" }] }], "item 0 is not a message: content"],
    [[{ type: "function_call", call_id: "a", arguments: "{}" }], "item 0 is not a function_call: name"],
    [[{ type: "function_call", name: "f", arguments: "{}" }], 'call null of "f" in item 0 has no result'],
    [[output], 'item 0 is the result of call "a", which no item before it asks for'],
    [[{ type: "item_reference", id: "fc_1" }, output], 'item 1 is the result of call "a"'],
    [[5], "item 0 is not a Responses item: expected an object"],
  ])("%j is refused in words", (items, reason) => {
    expect(fromResponseItems(items)).toMatchObject({ left: { reason: expect.stringContaining(reason) } });
  });
});

describe("what came from elsewhere", () => {
  test("says what is not kept apart any longer, and what of it is gone", () => {
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

  test("says what it can't bring along", () => {
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
