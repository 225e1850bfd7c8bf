import { describe, expect, test } from "vitest";
import { fromChatExchanges } from "../../src/chat/exchanges.ts";
import { toJournal } from "../../src/exchange/journal.ts";
import { right } from "../laws.ts";
import { recordingsFolder, recordingsOf } from "../recordings.ts";

const user = (content: string) => ({ role: "user", content });
const said = (content: string) => ({ role: "assistant", content });
const exchange = (messages: readonly object[], reply: object) => ({
  request: { model: "m", messages },
  response: { choices: [{ index: 0, message: reply }] },
});

describe("logged requests of chat completions", () => {
  test("become one conversation for each that they continue, also when two are interleaved", () => {
    const log = [
      exchange([user("A?")], said("a")),
      exchange([user("B?")], said("b")),
      exchange([user("A?"), said("a"), user("More?")], said("aa")),
      exchange([user("B?"), said("b"), user("More?")], said("bb")),
    ];
    const conversations = right(fromChatExchanges(log));
    expect(conversations.map(({ turns }) => turns.flat().map(({ content }) => content))).toEqual([
      ["A?", "a", "More?", "aa"],
      ["B?", "b", "More?", "bb"],
    ]);
  });

  test("continue the conversation whose reply they have, if others begin with the same messages", () => {
    const hello = [user("Hi"), said("Hello")];
    const log = [
      exchange([user("Hi")], said("Hello")),
      exchange([...hello, user("More?")], said("a")),
      exchange([user("Hi")], said("Hello")),
      exchange([user("Hi")], said("Hey")),
      exchange([...hello, user("More?"), said("a"), user("And?")], said("aa")),
    ];
    const conversations = right(fromChatExchanges(log));
    expect(conversations.map(({ turns }) => turns.flat().map(({ content }) => content))).toEqual([
      ["Hi", "Hello"],
      ["Hi", "Hey"],
      ["Hi", "Hello", "More?", "a", "And?", "aa"],
    ]);
  });

  test("continue a reply whose arguments the client wrote with other spaces, or without its reasoning", () => {
    const call = (text: string) => ({ id: "c", type: "function", function: { name: "f", arguments: text } });
    const log = [
      exchange([user("A?")], { content: "", reasoning_content: "Hm.", tool_calls: [call('{ "x": 1 }')] }),
      exchange(
        [
          user("A?"),
          { role: "assistant", content: null, tool_calls: [call('{"x":1}')] },
          { role: "tool", tool_call_id: "c", content: "1" },
        ],
        said("One."),
      ),
    ];
    expect(right(fromChatExchanges(log))).toHaveLength(1);
  });

  test("name the item, the message and the words of a reply that was changed", () => {
    const log = [exchange([user("A?")], said("a")), exchange([user("A?"), said("z"), user("More?")], said("aa"))];
    expect(fromChatExchanges(log)).toMatchObject({
      left: { index: 1, reason: expect.stringMatching(/^item 1: message 1 .*"z".* item 0 was .*"a"/) },
    });
  });

  test("leave out a failed call, and name the item that is not an exchange", () => {
    const failed = { request: { messages: [user("A?")] }, response: { error: { message: "busy" } } };
    expect(right(fromChatExchanges([failed]))).toEqual([]);
    expect(fromChatExchanges([{ request: {} }])).toMatchObject({ left: { index: 0 } });
    expect(fromChatExchanges("log")).toMatchObject({ left: { index: null } });
  });
});

const recorded = recordingsOf(recordingsFolder(), "exchanges.jsonl") as readonly RecordedExchange[];

interface RecordedExchange {
  readonly source: string;
  readonly cassette: string;
  readonly api: string;
  readonly index: number;
  readonly request: { readonly body: unknown };
  readonly response: { readonly body?: unknown };
}

test.skipIf(recorded.length === 0)("recorded requests of other clients are read, and become journals", () => {
  const logs = Map.groupBy(
    recorded.filter(({ api, response }) => api === "chat.completions" && response.body !== undefined),
    ({ source, cassette }) => `${source} ${cassette}`,
  );
  for (const log of logs.values()) {
    const exchanges = log
      .toSorted((left, right) => left.index - right.index)
      .map(({ request, response }) => ({ request: request.body, response: response.body }));
    for (const conversation of right(fromChatExchanges(exchanges))) right(toJournal(conversation, { threadId: "t" }));
  }
  expect(logs.size).toBeGreaterThan(0);
});
