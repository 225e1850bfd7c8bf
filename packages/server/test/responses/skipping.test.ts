import type { JsonObject } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { itemId } from "../../src/items/item.ts";
import {
  plainChoice,
  readInputItems,
  readMetadata,
  readToolChoice,
  readTools,
  skippedInput,
  type ToolChoice,
} from "../../src/responses/skipping.ts";

describe("the server names what it skips of an input", () => {
  const known = itemId("rs", { threadId: "t", turn: 1, step: 1, index: 0 });
  const reasoning = 'input[0]: skipped; the reasoning "rs_1" is not known here';

  test.each<readonly [JsonObject, readonly string[]]>([
    [{ type: "item_reference", id: "rs_1" }, [reasoning]],
    [{ id: "rs_1" }, [reasoning]],
    [{ type: "item_reference", id: known }, []],
    [{ type: "item_reference", id: "msg_1" }, []],
    [{ type: "item_reference", id: 7 }, []],
    [{ type: "message", id: "rs_1", role: "user" }, []],
    [{ role: "user", id: "rs_1" }, []],
    [{ role: "critic" }, ['input[0]: skipped; messages of the role "critic" are not known here']],
    [{ type: "message", role: 7 }, []],
    [{ type: "reasoning", role: "critic" }, []],
    [{ type: "odd" }, ['input[0]: skipped; items of the type "odd" are not known here']],
    [{ type: 7 }, []],
    [{ type: "function_call" }, []],
    [
      { type: "web_search_call" },
      ["input[0]: a web_search_call is kept, but only a model of the Responses API is sent it"],
    ],
    [{ type: "compaction" }, ["input[0]: a compaction is kept, but only a model of the Responses API is sent it"]],
    [{ type: "reasoning", content: [{ type: "reasoning_text" }] }, []],
    [{ role: "user", content: "text" }, []],
    [
      { role: "user", content: [{ type: "input_text" }, { type: "odd" }, { text: "x" }, "text", { type: 7 }] },
      ['input[0].content[1]: a part of the type "odd" is kept, but only a model of the Responses API is sent it'],
    ],
  ])("%j", (item, expected) => {
    expect(skippedInput([item])).toEqual(expected);
  });

  test("with the place of each item, whatever else the input has", () => {
    expect(skippedInput(["text", null, { type: "odd" }])).toEqual([expect.stringMatching(/^input\[2\]: skipped/u)]);
    expect(skippedInput("text")).toEqual([]);
  });
});

describe("the server reads an item that other servers take", () => {
  const user = (content: JsonObject["content"]): JsonObject => ({ role: "user", content });
  const text = (words: string): JsonObject => ({ type: "input_text", text: words });

  test.each<readonly [string | JsonObject, JsonObject]>([
    ["hi", user("hi")],
    [user("hi"), user("hi")],
    [user(null), user(null)],
    [user({ text: "hi" }), user([text("hi")])],
    [
      user(["a", null, 7, { text: "b" }, { text: null }, { text: 8 }, text("c"), { type: "input_image" }]),
      user([text("a"), text("7"), text("b"), { text: 8 }, text("c"), { type: "input_image" }]),
    ],
    [
      { type: "message", content: ["a"] },
      { type: "message", content: ["a"] },
    ],
    [
      { type: "reasoning", role: "user", content: ["a"] },
      { type: "reasoning", role: "user", content: ["a"] },
    ],
    [
      { type: "function_call", arguments: { a: 1 } },
      { type: "function_call", arguments: '{"a":1}' },
    ],
    [{ type: "function_call" }, { type: "function_call", arguments: "{}" }],
    [
      { type: "function_call", arguments: '{"a": 1}' },
      { type: "function_call", arguments: '{"a": 1}' },
    ],
    [
      { type: "function_call_output", output: ["a", null] },
      { type: "function_call_output", output: [text("a")] },
    ],
    [
      { type: "function_call_output", output: { a: 1 } },
      { type: "function_call_output", output: '{"a":1}' },
    ],
    [
      { type: "custom_tool_call_output", output: 7 },
      { type: "custom_tool_call_output", output: "7" },
    ],
    [
      { type: "function_call_output", output: null },
      { type: "function_call_output", output: null },
    ],
    [
      { type: "function_call_output", output: "a" },
      { type: "function_call_output", output: "a" },
    ],
    [
      { type: "mcp_call", output: { a: 1 } },
      { type: "mcp_call", output: { a: 1 } },
    ],
  ])("%j", (item, expected) => {
    expect(readInputItems([item])).toEqual([expected]);
  });

  test("and an item alone, and leaves an input that is a text as it is", () => {
    expect(readInputItems(user(["hi"]))).toEqual([user([text("hi")])]);
    expect(readInputItems("hi")).toBe("hi");
  });
});

test("metadata keeps 16 members, keys of 64 and texts of 512 characters, and names what it cuts or skips", () => {
  const kept = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`key ${index}`, "value"]));
  const [long, longest] = ["x".repeat(512), "k".repeat(64)];
  const given = { ...kept, none: null, number: 7, object: { a: 1 }, long: `${long}!`, [longest]: long };
  expect(readMetadata({ ...given, [`${longest}!`]: "value", more: "value" })).toEqual({
    metadata: { ...kept, number: "7", object: '{"a":1}', long, [longest]: long },
    skipped: [
      "metadata.long: cut; a text has at most 512 characters",
      `metadata.${longest}: skipped; a key has at most 64 characters`,
      "metadata.more: skipped; metadata has at most 16 members",
    ],
  });
  expect(readMetadata({ ...kept, none: null, a: "1", b: "2", c: "3" }).skipped).toEqual([]);
});

describe("tools", () => {
  const look = { type: "function", name: "look" };

  test.each<readonly [string, readonly JsonObject[], readonly JsonObject[], readonly string[]]>([
    ["a function", [{ ...look, strict: true }], [{ ...look, strict: true }], []],
    ["one as chat completions have it", [{ type: "function", function: { name: "look" } }], [look], []],
    ["one without its type", [{ name: "look" }], [look], []],
    ["a second one of its name", [look, look], [look], ['a tool before it has the name "look"']],
    ["two of two names", [look, { ...look, name: "see" }], [look, { ...look, name: "see" }], []],
    [
      "members that are not known",
      [{ ...look, cache: true, async: false, extra: null }],
      [look],
      ["tools[0].cache: skipped; a function tool has no such member here"],
    ],
    ["another tool", [{ type: "shell", name: "look" }], [], ['tools of the type "shell" are not offered']],
    ["a tool of no type", [{}], [], ["tools of the type null are not offered"]],
  ])("of a request are split into functions and skipped ones: %s", (_, given, kept, skipped) => {
    const read = readTools(given);
    expect(read.kept).toEqual(kept);
    expect(read.skipped).toEqual(skipped.map((words) => expect.stringContaining(words)));
    expect(read.left.map(({ name = null }) => name)).toEqual(kept.length === 0 ? [given[0]?.["name"] ?? null] : []);
  });

  test.each<readonly [JsonObject | string, ToolChoice]>([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    ["any", "required"],
    ["odd", null],
    [{ type: "any" }, "required"],
    [{ type: "required" }, "required"],
    [{ type: "auto" }, "auto"],
    [{ type: "none" }, "none"],
    [{ type: "function", function: { name: "look" } }, look],
    [look, look],
    [{ type: "mcp" }, { type: "mcp" }],
  ])("the choice %j is read as %j", (given, expected) => {
    expect(plainChoice(given)).toEqual(expected);
  });

  const left = [
    { type: "shell" },
    { type: "mcp", server_label: "docs" },
    { type: "namespace", name: "n", tools: [{ name: "see" }, 7, { name: "look" }] },
  ];
  const some = { kept: [look], left };
  const see = { type: "function", name: "see" };
  const allowing = (mode: string, ...tools: readonly (JsonObject | string)[]): JsonObject => ({
    type: "allowed_tools",
    mode,
    tools,
  });
  const without = ["tool_choice: the tools that were skipped are allowed no longer"];

  test.each<readonly [ToolChoice, Parameters<typeof readToolChoice>[1], object]>([
    ["required", { kept: [], left }, { problem: "a call is required, and all tools of the request were skipped" }],
    ["required", { kept: [], left: [] }, { choice: "required", skipped: [] }],
    ["required", some, { choice: "required", skipped: [] }],
    ["auto", { kept: [], left }, { choice: "auto", skipped: [] }],
    [null, some, { choice: null, skipped: [] }],
    [look, some, { choice: look, skipped: [] }],
    [see, some, { problem: 'it forces a tool that was skipped: "see"' }],
    [{ ...see, name: "other" }, some, { choice: { ...see, name: "other" }, skipped: [] }],
    [{ type: "shell" }, some, { problem: 'it forces a tool that was skipped: "shell"' }],
    [{ type: "mcp", name: "docs" }, some, { problem: 'it forces a tool that was skipped: "docs"' }],
    [{ type: "mcp", name: "no" }, some, { choice: { type: "mcp", name: "no" }, skipped: [] }],
    [{ type: "docs" }, some, { choice: { type: "docs" }, skipped: [] }],
    [allowing("auto", look), some, { choice: allowing("auto", look), skipped: [] }],
    [allowing("auto", look, see, "odd"), some, { choice: allowing("auto", look, "odd"), skipped: without }],
    [allowing("auto", see), some, { choice: "none", skipped: without }],
    [allowing("required", see), some, { problem: "a call is required, and all tools that it allows were skipped" }],
    [allowing("required", look, see), some, { choice: allowing("required", look), skipped: without }],
    [{ type: "allowed_tools", tools: 7 }, some, { choice: { type: "allowed_tools", tools: 7 }, skipped: [] }],
  ])("that were skipped are out of the choice %j", (choice, tools, expected) => {
    expect(readToolChoice(choice, tools)).toEqual(expected);
  });
});
