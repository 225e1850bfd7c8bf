import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { conversationMachine, messagesOf, outstanding, SeedError, start, textOf } from "../../src/index.ts";
import { wellFormed } from "../../src/hosting.ts";
import { decodeEvent, fold } from "../../src/journal.ts";
import { calling, Talk } from "../talk.ts";
import { CheckedTalk } from "../checked-talk.ts";

describe("what is long", () => {
  const megabytes = 10;
  const long = "0123456789".repeat((megabytes * 1024 * 1024) / 10);

  test(`a message of ${megabytes} MB is said, answered, truncated and read again`, () => {
    const talk = new Talk(conversationMachine());
    const entries = [talk.beginning, talk.ask(long).entry, talk.reply(long).entry];
    entries.push(talk.tell({ type: "answer.truncated", turn: 1, characters: 5 }).entry);
    expect(messagesOf(talk.state).map((message) => textOf(message).length)).toEqual([long.length, 5]);
    expect(fold(entries)).toEqual(Either.right(talk.state));
    expect(Either.isRight(decodeEvent(entries[1]?.event))).toBe(true);
  });
});

describe("ids with characters that mean something elsewhere", () => {
  test.each(["../../etc/passwd", "a/1.1#1", "1.1", "t/1.1.0#1", "__proto__", "x!retry", " ", "\ud800", "a\nb", "💬"])(
    "a thread called %j has its own effects, and takes no answers to others'",
    (threadId) => {
      const machine = conversationMachine({
        tools: [{ name: "search" }],
        limits: { deadlineMs: 1_000_000 },
        retry: { baseDelayMs: 0 },
      });
      const talk = new Talk(machine, { threadId });
      const seen = new Set<string>();
      const collect = () => outstanding(talk.state).forEach(({ id }) => seen.add(id));
      talk.ask("Go.");
      collect();
      talk.fail({ retryable: true });
      collect();
      talk.fire("retry");
      collect();
      talk.reply(calling("search", "search"));
      collect();
      expect([...seen].every((id) => id.startsWith(`${threadId}/1`))).toBe(true);
      // A deadline, two calls, the timer between them, and two tools.
      expect(seen.size).toBe(6);
      const other = new Talk(machine, { threadId: `${threadId}x` });
      other.ask("Go.");
      for (const effectId of seen) expect(other.refused({ type: "timer.fired", effectId }).kind).toBe("stale");
    },
  );

  test.each(["__proto__", "constructor", "toString", " ", "../x", "\ud800"])(
    "a checkpoint called %j is found again, and not before",
    (name) => {
      const talk = new Talk(conversationMachine());
      expect(talk.refused({ type: "head.moved", to: { checkpoint: name } }).kind).toBe("unknown");
      talk.ask("One");
      talk.reply("1");
      talk.tell({ type: "checkpoint.named", name });
      talk.tell({ type: "head.moved", to: 0 });
      talk.tell({ type: "head.moved", to: { checkpoint: name } });
      expect(talk.state.context.conversation.head).toBe(1);
      expect(JSON.parse(JSON.stringify(talk.state))).toEqual(talk.state);
    },
  );
});

describe("a beginning that can't be", () => {
  const machine = conversationMachine();

  test.each([
    [[{ role: "tool", toolCallId: "x", content: "" }] as const, /message 0 is the result of call "x"/],
    [
      [{ role: "assistant", toolCalls: [{ id: "x", name: "search", arguments: "" }] }] as const,
      /no result for call "x"/,
    ],
  ])("seed %j is refused with its place", (seed, words) => {
    expect(() => start(machine, { threadId: "t", at: 0, seed })).toThrow(SeedError);
    expect(() => start(machine, { threadId: "t", at: 0, seed })).toThrow(words);
  });
});

// Servers refuse half of a surrogate pair, so no message may contain one, from any source.

const torn = "a \ud83d";
const parts = [
  { type: "text" as const, text: torn, provider: { mark: torn } },
  { type: "data" as const, field: torn, value: { [torn]: [torn] } },
  { type: "image" as const, url: torn, detail: torn },
  { type: "opaque" as const, value: { audio: torn } },
];

const tornIn = (talk: CheckedTalk): readonly string[] => {
  const { conversation, open } = talk.state.context;
  const all = [
    ...messagesOf(talk.state),
    conversation.system,
    conversation.appended,
    open?.waiting,
    ...(open === null ? [] : talk.call().messages),
  ];
  // JSON escapes each lone surrogate.
  return [...JSON.stringify(all).matchAll(/\\ud[89a-f][0-9a-f]{2}/giu)].map(([half]) => half);
};

test("halves of characters are replaced in texts and names, and a value without them stays the same", () => {
  const whole = { name: "a", list: ["b", 1, null, { "é😀": true }] };
  expect(wellFormed(whole)).toBe(whole);
  expect(wellFormed({ ...whole, list: ["\ud83d", { "\ude00": "c" }] })).toEqual({
    ...whole,
    list: ["\ufffd", { "\ufffd": "c" }],
  });
});

test("a message is well-formed however it is made", () => {
  const seed = [
    { role: "user" as const, content: parts, name: torn, provider: { mark: torn } },
    { role: "assistant" as const, toolCalls: [{ id: torn, name: torn, arguments: torn, provider: { mark: torn } }] },
    { role: "tool" as const, toolCallId: torn, content: torn },
  ];
  const talk = new CheckedTalk({ tools: [{ name: "read" }] }, { seed, system: torn });
  talk.tell({
    type: "round.appended",
    reply: { toolCalls: [{ id: torn, name: torn, arguments: torn }] },
    results: [{ outcome: "completed", content: torn }],
  });
  talk.tell({
    type: "turn.added",
    messages: [
      { role: "user", content: torn },
      { role: "assistant", content: torn },
    ],
  });
  talk.tell({ type: "message.appended", message: { role: "user", content: parts } });
  talk.tell({ type: "system.changed", system: torn });
  expect(tornIn(talk)).toEqual([]);
  talk.ask(torn);
  talk.reply({
    content: [...parts, { type: "reasoning", text: torn }],
    toolCalls: [{ id: torn, name: "read", arguments: torn }],
  });
  talk.result(0, torn);
  expect(tornIn(talk)).toEqual([]);
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: torn } });
  talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: "\ude00" } });
  talk.tell({ type: "cancel.requested" });
  expect(tornIn(talk)).toEqual([]);
  expect(messagesOf(talk.state).at(-1)?.parts).toEqual([{ type: "text", text: "a \ud83d\ude00" }]);
  talk.ask("Again.");
  talk.tell({ type: "cancel.requested", partial: { content: torn } });
  expect(tornIn(talk)).toEqual([]);
});
