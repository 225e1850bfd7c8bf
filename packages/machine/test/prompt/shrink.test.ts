import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  digestOfMessage,
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  textOf,
} from "../../src/index.ts";
import { clearedUntil, shortestShrink, type Shrink, shrinkMessage } from "../../src/prompt/shrink.ts";
import { unitsOf } from "../../src/prompt/unit.ts";
import { runs } from "../runs.ts";
import { messagesOf } from "./policies/made-up-history.ts";

const rule = (more: Partial<Shrink> = {}): Shrink => ({
  rule: "headAndTail",
  of: "messages",
  characters: 200,
  ...more,
});

const result = (text: string, callId = "1.1.0"): Message =>
  messageFromResult({ callId, providerCallId: "call_0", name: "read" }, "completed", text);

/** Draws texts around every relevant length, with characters of two UTF-16 units. */
const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 450, size: "max" }),
  fc.nat({ max: 450 }).map((length) => `${"😀".repeat(length)}.`),
  fc.nat({ max: 450 }).map((length) => `.${"😀".repeat(length)}`),
  fc.nat({ max: 1_000 }).map((length) => "a".repeat(length)),
);

const ids = fc.oneof(
  fc.constant("12.3.0"),
  fc.nat({ max: 300 }).map((length) => "i".repeat(length)),
);

const messages: fc.Arbitrary<Message> = fc.oneof(
  fc.tuple(ids, texts).map(([id, text]) => messageFromDraft(id, { role: "user", content: text })),
  fc.tuple(ids, texts, texts, fc.jsonValue()).map(([id, text, url, value]) =>
    messageFromDraft(id, {
      role: "user",
      content: [
        { type: "text", text },
        { type: "data", field: "documents", value: text },
        // fast-check draws JSON, which its type cannot express for a read-only array.
        { type: "data", field: "more", value: JSON.parse(JSON.stringify({ value, text })) },
        { type: "image", url },
        { type: "opaque", value: { text } },
      ],
    }),
  ),
  fc
    .tuple(ids, texts, texts)
    .map(([id, text, image]) =>
      messageFromResult({ callId: id, providerCallId: null, name: "look" }, "failed", [
        { type: "text", text },
        { type: "data", field: "found", value: [text] },
        ...(image.length % 2 === 0 ? [{ type: "image" as const, url: "https://example.org/a.png" }] : []),
      ]),
    ),
  fc.tuple(ids, texts).map(([id, text]) =>
    messageFromReply(id, id, {
      content: [
        { type: "reasoning", text },
        { type: "text", text },
        { type: "refusal", text },
      ],
      toolCalls: [{ id: "call_0", name: "write", arguments: text }],
    }),
  ),
);

const rules: fc.Arbitrary<Shrink> = fc
  .record({
    rule: fc.constantFrom("clear", "headAndTail", "reference"),
    of: fc.constantFrom("toolResults", "messages"),
    characters: fc.integer({ min: shortestShrink, max: 500 }),
    tool: fc.option(
      fc.nat({ max: 300 }).map((length) => "t".repeat(length)),
      { nil: undefined },
    ),
  })
  .map(({ tool, ...others }) => ({ ...others, ...(tool === undefined ? {} : { tool }) }));

/** Returns the lengths of all texts that a rule may shrink. */
const lengthsIn = (message: Message, { of }: Shrink): readonly number[] =>
  message.parts.flatMap((part) => {
    if (part.type === "toolResult") {
      return [part.content.reduce((sum, inner) => sum + (inner.type === "text" ? inner.text.length : 0), 0)];
    }
    if (of === "toolResults") return [];
    if (part.type === "text") return [part.text.length];
    return part.type === "data" && typeof part.value === "string" ? [part.value.length] : [];
  });

describe("shrinkMessage", () => {
  test("shrinking twice equals shrinking once, by any rules", () => {
    const once = (message: Message, applied: readonly Shrink[]) => {
      const shrunk = shrinkMessage(message, applied);
      expect(shrinkMessage(shrunk, applied)).toBe(shrunk);
      for (const single of applied) expect(shrinkMessage(shrunk, [single])).toBe(shrunk);
    };
    fc.assert(fc.property(messages, fc.array(rules, { maxLength: 4 }), once), { numRuns: runs(400) });
  });

  test("leaves nothing longer than the limit, no half character, and the digest of the rest", () => {
    const shrinks = (message: Message, applied: Shrink) => {
      const shrunk = shrinkMessage(message, [applied]);
      for (const length of lengthsIn(shrunk, applied)) expect(length).toBeLessThanOrEqual(applied.characters);
      expect(JSON.stringify(shrunk)).not.toMatch(/\\ud[89a-f]/iu);
      expect(shrunk.digest).toBe(digestOfMessage(shrunk));
    };
    fc.assert(fc.property(messages, rules, shrinks), { numRuns: runs(400) });
  });

  test("never touches calls, reasoning, refusals, images outside results, opaque parts, nor whose message it is", () => {
    const untouched = (message: Message, applied: Shrink) => {
      const rest = ({ parts, digest: _, ...others }: Message) => [
        others,
        parts.filter(({ type }) => type !== "text" && type !== "data" && type !== "toolResult"),
        parts.map((part) => (part.type === "toolResult" ? { ...part, content: [] } : part.type)),
        applied.of === "messages" ? [] : parts.filter(({ type }) => type === "text" || type === "data"),
      ];
      expect(rest(shrinkMessage(message, [applied]))).toEqual(rest(message));
    };
    fc.assert(fc.property(messages, rules, untouched), { numRuns: runs(200) });
  });

  test.each(["\u{10000}", "\u{103ff}", "\u{10fc00}", "\u{10ffff}"])("%j is never cut in half", (character) => {
    for (const before of ["", "."]) {
      for (const applied of [rule(), rule({ characters: 201 }), rule({ rule: "reference", characters: 201 })]) {
        const text = textOf(shrinkMessage(result(before + character.repeat(300)), [applied]));
        expect(text.length).toBeGreaterThan(195);
        // A half would be replaced.
        expect(
          text
            .replaceAll(/\[…[^]*…\]/gu, "")
            .replaceAll(/[.\n]/gu, "")
            .replaceAll(character, ""),
        ).toBe("");
      }
    }
  });

  test.each(["\ud7ff", "\ue000"])("%j is shown where it fits, because it is not half of a character", (character) => {
    const shrunk = shrinkMessage(result(character.repeat(300)), [rule()]);
    expect(textOf(shrunk)).toHaveLength(200);
  });

  test.each([
    ["the end of the beginning", rule({ rule: "reference" }), 1],
    ["the end of the beginning, of an odd length", rule({ rule: "reference", characters: 201 }), 1],
    ["either side of the middle", rule(), 2],
    ["either side of the middle, of an odd length", rule({ characters: 201 }), 2],
  ])("leaves a character out only where it would be cut in half at %s", (_, applied, cuts) => {
    const shrunk = Array.from({ length: 600 }, (_none, before) =>
      textOf(shrinkMessage(result(`${"a".repeat(before)}😀${"b".repeat(600 - before)}`), [applied])),
    );
    // A message has this character in the place of a half.
    expect(shrunk.filter((text) => text.includes("\u{fffd}"))).toEqual([]);
    expect(shrunk.filter((text) => text.length === applied.characters)).toHaveLength(600 - cuts);
    expect(shrunk.filter((text) => text.length === applied.characters - 1)).toHaveLength(cuts);
  });

  test("clear: only a mark, also of an image, which hardly has a text", () => {
    const cleared = shrinkMessage(result("a".repeat(1_000)), [rule({ rule: "clear" })]);
    expect(textOf(cleared)).toBe("[Left out to save room: the result of call 1.1.0, 1000 characters.]");
    const image = messageFromResult({ callId: "1.1.0", providerCallId: null, name: "see" }, "completed", [
      { type: "image", url: "data:image/png;base64,AAAA" },
    ]);
    const shrunk = shrinkMessage(image, [rule({ rule: "clear" })]);
    expect(JSON.stringify(shrunk)).not.toContain("AAAA");
    expect(shrinkMessage(image, [rule()])).toBe(image);
  });
});

test("the mark of a cleared result names the call if it is shorter than any limit with the id", () => {
  const markOf = (id: string): string =>
    textOf(shrinkMessage(result("a".repeat(1_000), id), [rule({ rule: "clear" })]));
  const longest = shortestShrink - markOf("i").length;
  expect(markOf("i".repeat(longest))).toHaveLength(199);
  expect(markOf("i".repeat(longest + 1))).toBe("[Left out to save room.]");
});

describe("clearedUntil", () => {
  const open = unitsOf(3, messagesOf(3, ["Look", ["seen"], ["unseen"], "Well", "Go on"]));

  test.each([
    ["in an earlier turn", { turn: 2, unit: 9 }, { turn: 2, unit: 9 }],
    ["in the open turn", { turn: 3, unit: 1 }, { turn: 3, unit: 1 }],
    ["at the newest round", { turn: 3, unit: 2 }, { turn: 3, unit: 2 }],
    ["after the newest round", { turn: 3, unit: 3 }, { turn: 3, unit: 2 }],
    ["after the open turn", { turn: 4, unit: 0 }, { turn: 3, unit: 2 }],
  ])("never covers the newest round of the open turn for a position %s", (_, before, until) => {
    expect(clearedUntil(before, 3, () => open)).toEqual(until);
  });

  test("covers nothing of an open turn without rounds", () => {
    const talked = unitsOf(3, messagesOf(3, ["One", "Two", "Three"]));
    expect(clearedUntil({ turn: 3, unit: 2 }, 3, () => talked)).toEqual({ turn: 3, unit: 0 });
  });
});
