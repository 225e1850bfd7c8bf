import fc from "fast-check";
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

  test("a logged request does not continue one whose results belong to other calls", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
    const calls = { role: "assistant", content: null, tool_calls: [call("c"), call("d")] };
    const results = ["c", "d"].map((id) => ({ role: "tool", tool_call_id: id, content: "1" }));
    const log = (second: readonly object[]) => [
      exchange([user("A?")], calls),
      exchange([user("A?"), calls, ...results], said("a")),
      exchange([user("A?"), calls, ...second, said("a"), user("More?")], said("aa")),
    ];
    expect(right(fromChatExchanges(log(results)))).toHaveLength(1);
    expect(right(fromChatExchanges(log(results.toReversed())))).toHaveLength(2);
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

  test("continue the reply whose calls they have; calls without results are left out, as are tools that are no functions", () => {
    const called = (text: string) => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: text } }],
    });
    const first = exchange([user("A?")], called('{"x":1}'));
    const tools = [
      { type: "web_search" },
      { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } },
    ];
    const log = [
      { ...first, request: { ...first.request, tools } },
      exchange([user("A?")], called('{"x":2}')),
      exchange([user("A?"), called('{"x":2}'), { role: "tool", tool_call_id: "c", content: "2" }], said("Two.")),
    ];
    expect(right(fromChatExchanges(log)).map((each) => [each.turns.flat().length, each.tools])).toEqual([
      [1, [{ name: "f", description: "d", parameters: { type: "object" } }]],
      [4, []],
    ]);
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

/** Draws a log of interleaved, well-formed conversations. Each message has its own text. */
const logArbitrary = fc
  .array(fc.array(fc.constantFrom("text", "tool"), { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 3 })
  .map((conversations) => {
    const logs = conversations.map((turns, conversation) => {
      const messages: object[] = [{ role: "system", content: "Be brief." }];
      const log: ReturnType<typeof exchange>[] = [];
      const reply = (message: object): void => {
        log.push(exchange([...messages], message));
        messages.push(message);
      };
      for (const [turn, kind] of turns.entries()) {
        const text = `${conversation}.${turn}`;
        messages.push(user(`question ${text}`));
        if (kind === "tool") {
          const call = { id: text, type: "function", function: { name: "f", arguments: "{}" } };
          reply({ role: "assistant", content: null, tool_calls: [call] });
          messages.push({ role: "tool", tool_call_id: text, content: `result ${text}` });
        }
        reply(said(`answer ${text}`));
      }
      return log;
    });
    const rounds = Math.max(...logs.map(({ length }) => length));
    return Array.from({ length: rounds }, (_, round) => logs.flatMap((log) => log.slice(round, round + 1))).flat();
  });

type Log = readonly ReturnType<typeof exchange>[];

/** Returns the messages in more than one item: those of a request, and its reply if a later request repeats it. */
const repeatedIn = (log: Log): readonly (readonly [item: number, message: number])[] => {
  const texts = log.map(({ request, response }) =>
    [...request.messages, response.choices[0]?.message].map((message) => JSON.stringify(message)),
  );
  return texts.flatMap((messages, item) =>
    messages.flatMap((text, at) => {
      const others = texts.filter((other, index) => index !== item && other[at] === text && other[1] === messages[1]);
      return others.length === 0 ? [] : [[item, at] as const];
    }),
  );
};

const isNoticed = (log: Log): boolean => {
  const read = fromChatExchanges(log);
  return "left" in read || read.right.some(({ remarks }) => remarks.length > 0);
};

describe("a log that was changed", () => {
  test("is noticed by any message that another request repeats, and an unchanged log passes", () => {
    fc.assert(
      fc.property(logArbitrary, fc.nat(), (log, drawn) => {
        expect(isNoticed(log)).toBe(false);
        const places = repeatedIn(log);
        const [item, at] = places[drawn % places.length] ?? [0, 0];
        // Parsed, so that no two items share a message.
        const changed: typeof log = JSON.parse(JSON.stringify(log));
        const { request, response } = changed[item] ?? exchange([], {});
        const messages: object[] = [...request.messages, ...response.choices.map(({ message }) => message)];
        Object.assign(messages[at] ?? {}, { content: "changed" });
        expect(isNoticed(changed)).toBe(true);
      }),
    );
  });

  test("is noticed if two items of a conversation are swapped, or the log is reversed", () => {
    fc.assert(
      fc.property(logArbitrary, fc.nat(), (log, drawn) => {
        expect(isNoticed(log.toReversed())).toBe(true);
        const first = log[0]?.request.messages[1];
        const items = log.flatMap(({ request }, index) =>
          JSON.stringify(request.messages[1]) === JSON.stringify(first) ? [index] : [],
        );
        const at = drawn % (items.length - 1);
        const [one, other] = [items[at] ?? 0, items[at + 1] ?? 0];
        const swapped = log.map((each, index) => log[index === one ? other : index === other ? one : index] ?? each);
        expect(isNoticed(swapped)).toBe(true);
      }),
    );
  });

  test("names the first message that differs, with its item and both texts, also if it is older or no reply", () => {
    const start = [user("A?"), said("a"), user("B?")];
    const log = (asked: string, replied: string) => [
      exchange([user("A?")], said("a")),
      exchange(start, said("b")),
      exchange([user(asked), said(replied), user("B?"), said("b"), user("C?")], said("c")),
    ];
    expect(fromChatExchanges(log("A?", "z"))).toMatchObject({
      left: { index: 2, reason: expect.stringMatching(/^item 2: message 1 .*"z".* the reply in item 0 was .*"a"/) },
    });
    expect(fromChatExchanges(log("Z?", "a"))).toMatchObject({
      left: { index: 2, reason: expect.stringMatching(/^item 2: message 0 .*"Z\?".* in item 0 it was .*"A\?"/) },
    });
  });
});

describe("the remarks on logged requests", () => {
  const system = { role: "system", content: "Be brief." };

  test("name a log that begins within a conversation, and the first message that differs from another one", () => {
    const log = [
      exchange([system, user("A?")], said("a")),
      exchange([system, user("B?"), said("b"), user("More?")], said("bb")),
      exchange([system, user("B?"), said("b"), user("More?"), said("bb"), user("And?")], said("bbb")),
    ];
    const [first, second] = right(fromChatExchanges(log));
    expect(first?.remarks).toEqual([]);
    expect(second?.remarks).toEqual([
      'item 1: its request has 1 reply that no earlier response gave; message 1 of its request is {"role":"user","content":"B?"}, and in item 0 it was {"role":"user","content":"A?"}',
    ]);
  });
});

test("a conversation has the time of its newest response", () => {
  const log = [exchange([user("A?")], said("a")), exchange([user("A?"), said("a"), user("B?")], said("b"))];
  const timed = log.map(({ request, response }, index) => ({ request, response: { ...response, created: index + 7 } }));
  expect(right(fromChatExchanges(timed))).toMatchObject([{ at: 8000 }]);
  expect(right(fromChatExchanges(log))).toMatchObject([{ at: null }]);
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
