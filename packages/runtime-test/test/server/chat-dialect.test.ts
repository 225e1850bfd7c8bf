import { toChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { Completed } from "../../src/server/answer.ts";
import { chatDialect } from "../../src/server/chat-dialect.ts";
import { question } from "./client.ts";

const user = { role: "user", content: "Weather?" };
const calling = (...ids: readonly string[]): object => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const result = (id: string): object => ({ role: "tool", tool_call_id: id, content: "" });

const refusalOf = (body: unknown): readonly [string | null, string | null, string] => {
  const parsed = chatDialect.read(typeof body === "string" ? body : JSON.stringify(body));
  if (Either.isRight(parsed)) throw new Error("the request was taken");
  const { status, param, code, message } = parsed.left;
  expect(status).toBe(400);
  return [param, code, message];
};

const talk = (...messages: readonly unknown[]): object => ({ model: "test", messages });

describe("chatDialect", () => {
  it.each<readonly [string, unknown, string | null, string | null, string]>([
    ["what is not JSON", '{"model": ', null, null, "could not parse the JSON body"],
    ["a list", [], null, "invalid_type", "expected an object, got an array"],
    ["no model", { messages: [user] }, "model", "missing_required_parameter", "Missing required parameter: 'model'."],
    ["no messages", { model: "test" }, "messages", "missing_required_parameter", "'messages'"],
    ["an empty list", talk(), "messages", "empty_array", "Invalid 'messages': empty array."],
    ["a message that is none", talk("hi"), "messages[0]", "invalid_type", 'got "hi"'],
    ["an unknown role", talk(user, { role: "robot", content: "" }), "messages[1].role", "invalid_type", 'got "robot"'],
    ["no role", talk({ content: "" }), "messages[0].role", "missing_required_parameter", "'messages[0].role'"],
    [
      "no content",
      talk({ role: "user" }),
      "messages[0].content",
      "missing_required_parameter",
      "'messages[0].content'",
    ],
    ["a content of null", talk({ role: "user", content: null }), "messages[0].content", "invalid_type", "got null"],
    [
      "a part without type",
      talk({ role: "user", content: [{}] }),
      "messages[0].content[0].type",
      "missing_required_parameter",
      "",
    ],
    [
      "an assistant that says nothing",
      talk(user, { role: "assistant" }, user),
      "messages[1].content",
      "invalid_type",
      "got null",
    ],
    [
      "no calls",
      talk(user, { role: "assistant", content: "", tool_calls: [] }),
      "messages[1].tool_calls",
      "empty_array",
      "",
    ],
    [
      "arguments that are no string",
      talk({ role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: {} } }] }),
      "messages[0].tool_calls[0].function.arguments",
      "invalid_type",
      "expected string, got an object",
    ],
    ["a result of no call", talk(user, result("a")), "messages[1].role", null, "a preceding message with 'tool_calls'"],
    ["a result of another call", talk(user, calling("a"), result("b"), result("a")), "messages[2].role", null, "'b'"],
    ["a result too late", talk(calling("a"), result("a"), user, result("a")), "messages[3].role", null, "'a'"],
    ["calls without results", talk(user, calling("a", "b"), result("b"), user), "messages[1].tool_calls", null, ": a"],
    ["calls at the end", talk(user, calling("a")), "messages[1].tool_calls", null, ": a"],
    ["calls upon calls", talk(calling("a"), calling("b"), result("b")), "messages[0].tool_calls", null, ": a"],
    [
      "a result without id",
      talk({ role: "tool", content: "" }),
      "messages[0].tool_call_id",
      "missing_required_parameter",
      "",
    ],
    ["no tools", question("?", { tools: [] }), "tools", "empty_array", ""],
    [
      "a tool without name",
      question("?", { tools: [{ type: "function", function: {} }] }),
      "tools[0].function.name",
      "missing_required_parameter",
      "",
    ],
    [
      "a tool's name",
      question("?", { tools: [{ type: "function", function: { name: "a b" } }] }),
      "tools[0].function.name",
      "invalid_value",
      "letters",
    ],
    ["a choice of no tools", question("?", { tool_choice: "auto" }), "tool_choice", null, "only allowed when 'tools'"],
    ["options of no stream", question("?", { stream_options: {} }), "stream_options", null, "'stream' is enabled"],
    ["many choices", question("?", { n: 2 }), "n", "invalid_value", "one choice"],
    ["a temperature", question("?", { temperature: 3 }), "temperature", "invalid_value", "<=2"],
    ["a stream", question("?", { stream: "yes" }), "stream", "invalid_type", 'expected boolean, got "yes"'],
  ])("refuses %s", (_, body, param, code, words) => {
    const [actualParam, actualCode, message] = refusalOf(body);
    expect([actualParam, actualCode]).toEqual([param, code]);
    expect(message).toContain(words);
  });

  it("takes what real clients send, and keeps all that it does not know", () => {
    const messages: readonly object[] = [
      { role: "developer", content: "Be brief.", name: "ops" },
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] },
      { ...calling("a", "b"), audio: null },
      result("b"),
      result("a"),
      { role: "assistant", content: null, refusal: "No." },
      { role: "assistant", content: "Ids come again." },
      calling("a"),
      result("a"),
    ];
    const parsed = chatDialect.read(
      JSON.stringify({
        model: "m",
        messages,
        stream: true,
        stream_options: { include_usage: true },
        seed: 1,
        x: { y: null },
      }),
    );
    if (Either.isLeft(parsed)) throw new Error(parsed.left.message);
    const { messages: read, stream, ...rest } = parsed.right;
    expect(rest).toMatchObject({ model: "m", parameters: { seed: 1, x: { y: null } } });
    expect(Object.keys(rest.parameters)).toEqual(["seed", "x"]);
    // A thread has results in the order of their calls, and an empty text in place of none.
    const asKept = [calling("a", "b"), result("a"), result("b"), { role: "assistant", content: "", refusal: "No." }];
    expect(read.map((message) => toChatMessage(message))).toEqual(messages.toSpliced(2, 4, ...asKept));
    const events: string[] = [];
    const write = (event: string): void => void events.push(event);
    const sink = { writeHead: () => undefined, write, end: write, destroy: () => undefined };
    const outcome = { type: "completed", reply: { content: "Yes." }, finishReason: "stop", usage: { inputTokens: 1 } };
    stream?.(sink, { id: "1", created: 0, model: "m" }).complete(outcome as Completed);
    expect(events.join("")).toContain('"choices":[],"usage":{"prompt_tokens":1');
  });
});
