import type { Entry, Event } from "@colloquy/machine";
import { expect, test } from "vitest";

import { checkedSearch, excerptOf, textOfEntry, wordsOf } from "../../src/ports/searching.ts";

// SQLite and PostgreSQL store the words of their index. If this function changes, older indexes lack the new words, so
// a migration must rebuild them.
test.each<[string, readonly string[]]>([
  ["The quick brown fox; the lazy DOG!", ["the", "quick", "brown", "fox", "lazy", "dog"]],
  ["don't e-mail me@example.com at 3.14", ["don", "t", "e", "mail", "me", "example", "com", "at", "3", "14"]],
  ["Ünïcode, café and cafe\u0301, ﬁne", ["unicode", "cafe", "and", "fine"]],
  ["STRASSE Straße Ναός", ["strasse", "straße", "ναος"]],
  ['snake_case `code` {"json": 1}', ["snake", "case", "code", "json", "1"]],
  ["東京タワー 2024", ["東", "京", "タ", "ワ", "ー", "2024"]],
  ["हिन्दी العربية", ["हिन्दी", "العربية"]],
  ["🙂 … ?! \ud800 \0", []],
  ["", []],
])("words of %j", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("a word is as long as anybody types, so that encoded data is not kept whole", () => {
  expect(wordsOf("x".repeat(1000))).toEqual(["x".repeat(64)]);
});

test("of what is longer than anybody says the beginning is searched", () => {
  const entry = (input: string): Entry => ({ seq: 1, event: { type: "ask.received", at: 0, askId: "1", input } });
  const text = textOfEntry(entry(`first ${"🙂".repeat(500_000)} last`));
  expect(text.length).toBeLessThan(300_000);
  expect(text.isWellFormed()).toBe(true);
  expect(wordsOf(text)).toEqual(["first"]);
  expect(textOfEntry(entry("x ".repeat(100_000)))).toHaveLength(200_000);
});

test.each<[Event, string]>([
  [{ type: "ask.received", at: 0, askId: "1", input: "asked" }, "asked"],
  [
    {
      type: "ask.received",
      at: 0,
      askId: "1",
      input: [
        { type: "text", text: "a" },
        { type: "image", url: "b" },
      ],
    },
    "a",
  ],
  [
    {
      type: "ask.received",
      at: 0,
      askId: "1",
      input: [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ],
    },
    "a\nb",
  ],
  [{ type: "message.appended", at: 0, message: { role: "user", content: "appended" } }, "appended"],
  [{ type: "system.changed", at: 0, system: { role: "developer", content: "changed" } }, "changed"],
  [{ type: "system.changed", at: 0, system: null }, ""],
  [
    {
      type: "llm.completed",
      at: 0,
      effectId: "1",
      finishReason: null,
      reply: {
        content: [
          { type: "reasoning", text: "thought" },
          { type: "refusal", text: "no" },
        ],
        toolCalls: [{ id: null, name: "tool", arguments: "{}" }],
      },
    },
    "no",
  ],
  [{ type: "llm.completed", at: 0, effectId: "1", finishReason: null, reply: {} }, ""],
  [{ type: "tool.completed", at: 0, effectId: "1", content: null }, ""],
  [{ type: "tool.failed", at: 0, effectId: "1", outcome: "failed", content: "why" }, "why"],
  [{ type: "cancel.requested", at: 0, reason: "because", partial: { content: "shown" } }, "shown"],
  [{ type: "turn.annotated", at: 0, turn: 1, name: "score", value: "good" }, ""],
])("what is said in an event: %j", (event, text) => {
  expect(textOfEntry({ seq: 1, event })).toBe(text);
  expect(textOfEntry({ seq: 1, event, redacted: true })).toBe("");
});

test("what is said where a thread begins are its system prompt and its seed", () => {
  const entry: Entry = {
    seq: 0,
    format: 2,
    event: {
      type: "thread.started",
      at: 0,
      threadId: "thread",
      system: "system",
      seed: [
        { role: "user", content: "one" },
        { role: "assistant", content: "two", toolCalls: [{ id: "a", name: "tool", arguments: "{}" }] },
        { role: "tool", toolCallId: "a", content: "three" },
      ],
    },
  };
  expect(textOfEntry(entry)).toBe("system\none\ntwo\nthree");
});

test("an excerpt is a short text whole, and of a long one the part where a word stands", () => {
  expect(excerptOf("all of it", ["all"])).toBe("all of it");
  const text = `${"before ".repeat(100)}Café${" after".repeat(100)}`;
  const excerpt = excerptOf(text, ["cafe"]);
  expect(excerpt).toMatch(/^….*before Café after.*…$/);
  expect(excerpt.length).toBeLessThan(250);
  expect(excerptOf(text, ["before"])).toMatch(/^before before.*…$/);
  expect(excerptOf(`${text} end`, ["end"])).toMatch(/^….* end$/);
  expect(excerptOf(text, ["nowhere"])).toMatch(/^before /);
});

test("an excerpt never ends in half of a character", () => {
  for (let offset = 0; offset < 4; offset += 1) {
    const excerpt = excerptOf(`${"x".repeat(offset)} ${"🙂".repeat(300)} needle ${"🙂".repeat(300)}`, ["needle"]);
    expect(excerpt).toContain("needle");
    expect(excerpt.isWellFormed()).toBe(true);
  }
});

test("what is invalid is refused", () => {
  expect(checkedSearch("Two words")).toEqual({ words: ["two", "words"], limit: 20 });
  expect(() => checkedSearch("words", { limit: 0 })).toThrow("search: limit must be a whole number ≥ 1 (got 0)");
});
