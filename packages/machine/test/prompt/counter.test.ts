import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  promptOf,
} from "../../src/index.ts";
import { type Counter, countMessage, countPrompt, estimateCounter, type Shrink } from "../../src/policies.ts";
import { Talk } from "../talk.ts";
import { countsOf } from "../../src/prompt/counts.ts";
import { chunksOf } from "../../src/thread/chunks.ts";
import type { Turn } from "../../src/thread/turn.ts";
import { characters, said } from "./policies/made-up-history.ts";

/** Counts characters, so that sums are easy to check. */
const perCharacter: Counter = {
  name: "characters",
  version: 1,
  options: {},
  perMessage: 100,
  perPrompt: 1_000,
  countPart: (part) => ("text" in part ? part.text.length : 0),
};

describe("counting", () => {
  test("a prompt costs its parts, its messages and itself", () => {
    const talk = new Talk(conversationMachine({ counter: perCharacter }), { system: "12" });
    talk.ask("12345");
    expect(promptOf(talk.machine, talk.state).tokens).toBe(1_000 + 100 + 2 + 100 + 5);
    expect(countPrompt(perCharacter, [])).toBe(1_000);
  });

  test.each<readonly [string, Counter["countPart"]]>([
    [
      "throws",
      () => {
        throw new RangeError("a special token");
      },
    ],
    ["counts no number", () => Number.NaN],
    ["counts without end", () => Number.POSITIVE_INFINITY],
  ])("a counter that %s leaves the count unknown, and the prompt as it is", (_, countPart) => {
    const talk = new Talk(conversationMachine({ counter: { ...perCharacter, name: "broken", countPart } }));
    talk.ask("Hello");
    expect(promptOf(talk.machine, talk.state)).toMatchObject({ tokens: null, messages: talk.call().messages });
  });
});

test("the estimate grows with the text, and counts every kind of part", () => {
  const call = { callId: "1.1.0", providerCallId: null, name: "search" };
  const one = countMessage(estimateCounter, messageFromDraft("1", { role: "user", content: "" }));
  const messages = [
    messageFromDraft("1", { role: "user", content: "12345678" }),
    messageFromDraft("1", { role: "user", content: [{ type: "data", field: "question", value: ["12345678"] }] }),
    messageFromDraft("1", { role: "user", content: [{ type: "image", url: "https://example.org/x.png" }] }),
    messageFromDraft("1", { role: "user", content: [{ type: "opaque", value: { audio: "12345678" } }] }),
    messageFromReply("1", "1", { content: [{ type: "reasoning", text: "12345678" }] }),
    messageFromReply("1", "1", { content: [{ type: "refusal", text: "12345678" }] }),
    messageFromReply("1", "1", { toolCalls: [{ id: null, name: "search", arguments: "12345678" }] }),
    messageFromResult(call, "completed", "12345678"),
  ];
  for (const message of messages) expect(countMessage(estimateCounter, message)).toBeGreaterThan(one + 1);
});

const inSearch = { callId: "1.1.0", providerCallId: null, name: "search" };

test.each<readonly [string, Message, number]>([
  ["no part", messageFromDraft("1", { role: "user", content: "" }), 4],
  ["a text of 8 characters", messageFromDraft("1", { role: "user", content: "12345678" }), 4 + 2],
  ["a text of 9 characters", messageFromDraft("1", { role: "user", content: "123456789" }), 4 + 3],
  [
    "a field",
    messageFromDraft("1", { role: "user", content: [{ type: "data", field: "question", value: [1] }] }),
    4 + 3,
  ],
  [
    "an image",
    messageFromDraft("1", { role: "user", content: [{ type: "image", url: "https://a.b/c.png" }] }),
    4 + 765,
  ],
  ["an unknown part", messageFromDraft("1", { role: "user", content: [{ type: "opaque", value: { a: 1 } }] }), 4 + 2],
  ["a thought", messageFromReply("1", "1", { content: [{ type: "reasoning", text: "12345678" }] }), 4 + 2],
  ["a refusal", messageFromReply("1", "1", { content: [{ type: "refusal", text: "12345678" }] }), 4 + 2],
  ["a call", messageFromReply("1", "1", { toolCalls: [{ id: null, name: "search", arguments: "12345678" }] }), 4 + 4],
  ["a result", messageFromResult(inSearch, "completed", "12345678"), 4 + 2],
])("estimateCounter counts a message with %s exactly", (_, message, tokens) => {
  expect(countMessage(estimateCounter, message)).toBe(tokens);
  expect(countPrompt(estimateCounter, [message, message])).toBe(3 + 2 * tokens);
});

const long = said("1.0", "user", "x".repeat(5_000));
const limit = (length: number, more: Partial<Shrink> = {}): Shrink => ({
  rule: "headAndTail",
  of: "messages",
  characters: length,
  ...more,
});

test("the messages of a turn are summed once, and those of turns that lie together", () => {
  const { turn, run, together } = countsOf(characters);
  let looked = 0;
  const closed = {
    get messages() {
      looked++;
      return chunksOf([long]);
    },
    // Only the messages of a turn are counted.
  } as Turn;
  expect([turn(closed), turn(closed), looked]).toEqual([5_001, 5_001, 1]);
  const turns = [closed];
  expect(run(turns)).toEqual([5_001]);
  expect(run(turns)).toBe(run(turns));
  const whole = { starts: [0], messages: [long], completed: true };
  const shown = [{ messages: chunksOf([long]), outcome: { status: "completed" } } as Turn];
  expect(together(shown)).toEqual(whole);
  expect(together(shown)).toBe(together(shown));
});

describe("a shrunk message", () => {
  test("is the same object for the same rules, wherever they apply", () => {
    const { shrink } = countsOf(characters);
    const shrunk = shrink(long, [limit(300)]);
    expect(shrink(long, [limit(300, { before: { turn: 4, unit: 0 } })])).toBe(shrunk);
    expect(shrink(long, [limit(301)])).not.toEqual(shrunk);
  });

  test("is not confused with that of other rules by a tool's name", () => {
    const { shrink } = countsOf(characters);
    const one = [limit(300, { tool: "read\nclear messages 200 " })];
    const two = [limit(300, { tool: "read" }), limit(200, { rule: "clear" })];
    expect(shrink(long, one)).not.toEqual(shrink(long, two));
  });

  test("is kept for the newest rules alone", () => {
    const { shrink } = countsOf(characters);
    const first = shrink(long, [limit(300)]);
    for (let length = 301; length < 316; length++) shrink(long, [limit(length)]);
    expect(shrink(long, [limit(300)])).toBe(first);
    shrink(long, [limit(316)]);
    const again = shrink(long, [limit(300)]);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});
