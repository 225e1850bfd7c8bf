import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { conversationMachine, messagesOf, outstanding, SeedError, start, textOf, transition } from "../../src/index.ts";
import { decodeEvent, fold } from "../../src/journal.ts";
import { checkPrompt } from "../../src/policies.ts";
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

describe("what is torn", () => {
  const torn = "\ud83d half a pair \ude00";
  const mended = "\ufffd half a pair \ufffd";
  const fail = (): never => {
    throw new Error("there is no system message");
  };

  test("halves of characters are replaced in messages, and the journal keeps what came", () => {
    const talk = new Talk(conversationMachine(), { system: torn });
    const { entry } = talk.ask(torn);
    talk.reply(torn);
    expect(messagesOf(talk.state).map(textOf)).toEqual([mended, mended]);
    expect(textOf(talk.state.context.conversation.system ?? fail())).toBe(mended);
    expect(entry.event).toHaveProperty("input", torn);
    expect(JSON.parse(JSON.stringify(talk.state))).toEqual(talk.state);
  });

  test.each<readonly [string, number, string]>([
    [torn, 1, "\ufffd"],
    ["👩‍👩‍👧‍👦!", 1, "👩‍👩‍👧‍👦"],
    ["e\u0301te", 2, "e\u0301t"],
    ["🇺🇳🇫🇷", 1, "🇺🇳"],
    ["Hello", 0, ""],
    ["Hello", 99, "Hello"],
  ])("truncating %j to %i characters keeps whole ones", (answer, characters, kept) => {
    const talk = new Talk(conversationMachine());
    talk.ask("Hello");
    talk.reply(answer);
    talk.tell({ type: "answer.truncated", turn: 1, characters });
    expect(messagesOf(talk.state).map(textOf).at(-1)).toBe(kept);
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

  test("tools with such names are called by them, and known only if declared", () => {
    const talk = new Talk(conversationMachine({ tools: [{ name: "__proto__" }] }));
    talk.ask("Go.");
    talk.reply(calling("__proto__", "constructor"));
    expect(talk.effects).toMatchObject([{ type: "callTool", name: "__proto__" }]);
  });
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

describe("asks that are invalid", () => {
  const machine = conversationMachine();
  const { state } = start(machine, { threadId: "t", at: 0 });

  test.each([
    ["no id", { askId: "", input: "Hello" }, /askId/],
    ["nothing, of an empty thread", { askId: "a", input: [] }, /nothing to send/],
    ["an empty text, of an empty thread", { askId: "a", input: "" }, /nothing to send/],
    ["a limit below zero", { askId: "a", input: "Hello", limits: { deadlineMs: -5 } }, /"deadlineMs" is -5/],
  ])("%s", (_, ask, words) => {
    const told = transition(machine, state, { type: "ask.received", at: 1, ...ask });
    expect(told).toMatchObject({ handled: false, refusal: { kind: "invalid", reason: expect.stringMatching(words) } });
  });

  test("an ask of nothing goes on from where the thread stands", () => {
    const talk = new Talk(machine);
    talk.ask("Write.");
    talk.reply("Once");
    talk.tell({ type: "ask.received", askId: "go on", input: [] });
    expect(talk.call().messages.map(textOf)).toEqual(["Write.", "Once"]);
    expect(checkPrompt(talk.call().messages)).toBeNull();
  });
});
