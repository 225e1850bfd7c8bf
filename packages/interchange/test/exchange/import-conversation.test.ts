import { describe, expect, test } from "vitest";
import { fromChatMessages } from "../../src/chat/messages.ts";
import type { ImportOptions } from "../../src/exchange/import-conversation.ts";
import { right } from "../laws.ts";

const user = (content = "Hi.") => ({ role: "user", content });
const calls = (...ids: readonly (string | null)[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({
    ...(id === null ? {} : { id }),
    type: "function",
    function: { name: "f", arguments: "{}" },
  })),
});
const result = (id: string | null, content = "done") => ({
  role: "tool",
  content,
  ...(id === null ? {} : { tool_call_id: id }),
});
const answer = (content = "Bye.") => ({ role: "assistant", content });

/** Returns the roles of each turn, and the content of results. */
const shape = (messages: readonly unknown[], options?: ImportOptions) =>
  right(fromChatMessages(messages, options)).turns.map((turn) =>
    turn.map((draft) => (draft.role === "tool" ? `${draft.toolCallId}: ${JSON.stringify(draft.content)}` : draft.role)),
  );

const problemOf = (messages: unknown) => {
  const read = fromChatMessages(messages);
  return "left" in read ? read.left : null;
};

const repairsOf = (messages: readonly unknown[]) =>
  right(fromChatMessages(messages, { repair: true })).losses.map(({ index, what, why }) => [index, what, why]);

const noResult = '"No result: the call was interrupted."';

describe("calls and results", () => {
  test("go together by id and place: ids are used again, and results come in any order", () => {
    expect(
      shape([user(), calls("a", "b"), result("b", "2"), result("a", "1"), user(), calls("a"), result("a", "3")]),
    ).toEqual([
      ["user", "assistant", 'a: "1"', 'b: "2"'],
      ["user", "assistant", 'a: "3"'],
    ]);
    expect(shape([calls(null, null), result(null, "1"), result(null, "2")])).toEqual([
      ["assistant", 'null: "1"', 'null: "2"'],
    ]);
  });

  test.each([
    {
      name: "a call without a result",
      messages: [user(), calls("a"), user()],
      index: 1,
      reason: 'call "a" of "f" in item 1 has no result: give one directly behind it',
      repaired: [["user", "assistant", `a: ${noResult}`], ["user"]],
      repairs: [[1, 'no result for call "a" of "f"', "one was put in its place that says so"]],
    },
    {
      name: "some of parallel calls without results",
      messages: [calls("a", "b"), result("b")],
      index: 0,
      reason: 'call "a" of "f" in item 0 has no result',
      repaired: [["assistant", `a: ${noResult}`, 'b: "done"']],
      repairs: [[0, 'no result for call "a" of "f"', "one was put in its place that says so"]],
    },
    {
      name: "a round that a user interrupts",
      messages: [user(), calls("a"), user("Wait!"), result("a"), answer()],
      index: 3,
      reason: 'the result of call "a" in item 3 comes behind item 2: move it directly behind item 1, which asked',
      repaired: [
        ["user", "assistant", 'a: "done"'],
        ["user", "assistant"],
      ],
      repairs: [[3, 'the place of the result of call "a"', "it was moved to its call in item 1"]],
    },
    {
      name: "a result behind another reply",
      messages: [calls("a"), calls("b"), result("b"), result("a")],
      index: 3,
      reason: 'the result of call "a" in item 3 comes behind item 1',
      repaired: [["assistant", 'a: "done"', "assistant", 'b: "done"']],
      repairs: [[3, 'the place of the result of call "a"', "it was moved to its call in item 0"]],
    },
    {
      name: "a result before its call",
      messages: [user(), result("a"), calls("a"), answer()],
      index: 1,
      reason: 'item 1 is the result of call "a", which only item 2 asks for: move it behind that one',
      repaired: [["user", "assistant", `a: ${noResult}`, "assistant"]],
      repairs: [
        [1, 'the result of call "a"', "no item before it asks for it"],
        [2, 'no result for call "a" of "f"', "one was put in its place that says so"],
      ],
    },
    {
      name: "a result that nobody asked for",
      messages: [user(), result("x"), answer()],
      index: 1,
      reason: 'item 1 is the result of call "x", which no item before it asks for: leave it out',
      repaired: [["user", "assistant"]],
      repairs: [[1, 'the result of call "x"', "no item before it asks for it"]],
    },
    {
      name: "a second result",
      messages: [calls("a"), result("a", "1"), result("a", "2")],
      index: 2,
      reason: 'item 2 is a second result of call "a": keep one of them',
      repaired: [["assistant", 'a: "1"']],
      repairs: [[2, 'a second result of call "a"', "the first one was kept"]],
    },
    {
      name: "an id that is used again while its first call waits",
      messages: [calls("a"), calls("a"), result("a")],
      index: 0,
      reason: 'call "a" of "f" in item 0 has no result',
      repaired: [["assistant", `a: ${noResult}`, "assistant", 'a: "done"']],
      repairs: [[0, 'no result for call "a" of "f"', "one was put in its place that says so"]],
    },
    {
      name: "two calls of one reply with the same id",
      messages: [calls("a", "a"), result("a", "1"), result("a", "2")],
      index: 0,
      reason: 'several calls of item 0 have the id "a", so that their results can\'t be kept apart: give each an id',
      repaired: [["assistant", 'a: "1"', 'a: "2"']],
      repairs: [[0, 'several calls have the id "a"', "their results were taken in the order of the calls"]],
    },
  ])("$name is a problem, and can be repaired", ({ messages, index, reason, repaired, repairs }) => {
    expect(problemOf(messages)).toMatchObject({ index, reason: expect.stringContaining(reason) });
    expect(problemOf(messages)?.reason).toMatch(/; or import with \{ repair: true \}$/);
    expect(shape(messages, { repair: true })).toEqual(repaired);
    expect(repairsOf(messages)).toEqual(repairs);
  });
});

describe("a value that is not a conversation", () => {
  test.each([
    [null, null, "not a list of chat messages: null; give the list itself"],
    [{ messages: [] }, null, 'not a list of chat messages: {"messages":[]}'],
    [[user(), "hi"], 1, "item 1 is not a chat message"],
    [[{ role: "robot" }], 0, 'item 0 is a chat message with the role "robot"; give one of system'],
    [[user(), () => 1], 1, "item 1 is no plain JSON: it is a function"],
    [[{ role: "user", content: [{ type: "text", text: 1n }] }], 0, "content.0.text is a bigint"],
    [[{ role: "user", content: "", at: new Date(0) }], 0, "at is a Date, which JSON has no word for"],
    [JSON.parse('[{"role":"user","content":[{"__proto__":{}}]}]'), 0, 'content.0 has a member "__proto__"'],
  ])("%o is refused with a reason", (messages, index, reason) => {
    expect(problemOf(messages)).toMatchObject({ index, reason: expect.stringContaining(reason) });
  });

  test("nor is an endlessly nested value", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(problemOf([{ role: "user", content: [{ type: "x", deep }] }])).toMatchObject({
      reason: expect.stringMatching(
        /^item 0 is no plain JSON: content\.0\.deep\..* is nested too deep, or holds itself$/,
      ),
    });
    const endless: unknown[] = [];
    endless.push(endless);
    expect(problemOf(endless)).toMatchObject({ index: 0 });
  });
});

test("an item that is null is invalid", () => {
  expect(problemOf([user(), null])).toMatchObject({ index: 1 });
});
