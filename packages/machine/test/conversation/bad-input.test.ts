import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { conversationMachine, messagesOf, outstanding, SeedError, start, textOf } from "../../src/index.ts";
import { decodeEvent, fold } from "../../src/journal.ts";
import { calling, Talk } from "../talk.ts";

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
    "a thread called %j has effects of its own, and answers to nobody else's",
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
      // A deadline, two calls, the timer between them, two tools.
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
