import { fc, test } from "@fast-check/vitest";
import { ConfigurationError, conversationMachine, messagesOf, start, textOf, transition } from "@colloquy/machine";
import { describe, expect, it } from "vitest";
import { clausesOf, spokenOf } from "../../src/dialogue/index.ts";
import { charactersOf } from "../../src/dialogue/spoken.ts";

const greeting = "Hello there, how are you? I am fine.";

/** Cases 69 to 76 and 84: the results of retico's alignment, or the right ones if those are wrong. */
describe.each<readonly [text: string, clause: number, character: number, spoken: string]>([
  [greeting, 0, 4, "Hello"],
  [greeting, 0, 11, "Hello there,"],
  [greeting, 1, 0, "Hello there, "],
  [greeting, 1, 3, "Hello there, how"],
  [greeting, 1, 100, "Hello there, how are you?"],
  [greeting, 2, 5, "Hello there, how are you? I am "],
  [greeting, 9, 2, "Hello there, how are you? I "],
  [greeting, 0, -1, ""],
  ["Café.", 0, 3, "Café"],
  ["Cafe\u0301!", 0, 3, "Cafe\u0301"],
  ["😀 hi.", 0, 0, "😀"],
  ["👨‍👩‍👧 a, b", 0, 0, "👨‍👩‍👧"],
  ["Pi is 3.14 ok.", 0, 100, "Pi is 3.14 ok."],
  ["Wait... what?", 1, 0, "Wait... "],
  ["At 10:30, go", 0, 99, "At 10:30,"],
  ["你好。再见。", 0, 9, "你好。"],
  ["", 0, 3, ""],
  ["", 3, -1, ""],
])("of %j", (text, clause, character, spoken) => {
  it(`clause ${clause}, character ${character} is ${JSON.stringify(spoken)}`, () => {
    expect(spokenOf(text, { clause, character })).toBe(spoken);
  });
});

it.each<readonly [text: string, clauses: readonly string[]]>([
  ['He said "stop." Then (at last!) he left.', ['He said "stop."', " Then (at last!)", " he left."]],
  ["Really?! Yes; no: maybe", ["Really?!", " Yes;", " no:", " maybe"]],
  ["It costs 1,000.50, or 10% less.", ["It costs 1,000.50,", " or 10% less."]],
  ["Dr. Smith saw e.g. J. Doe. Then he left.", ["Dr. Smith saw e.g. J. Doe.", " Then he left."]],
  ["What is it, Dr.", ["What is it,", " What is it, Dr.".slice(12)]],
  ["Hmm…no. See https://a.example/b,c", ["Hmm…", "no.", " See https://a.example/b,c"]],
  ["「はい。」と言った、そして", ["「はい。」", "と言った、", "そして"]],
  ["真的？！好", ["真的？！", "好"]],
  ["。\u0301a", ["。\u0301a"]],
  ["كيف؟ جيد، شكرا", ["كيف؟", " جيد،", " شكرا"]],
  ["...", ["..."]],
  [" ", [" "]],
])("the clauses of %j", (text, clauses) => {
  expect(clausesOf(text)).toEqual(clauses);
});

it.each([
  { clause: -1, character: 0 },
  { clause: 0.5, character: 0 },
  { clause: 0, character: -2 },
  { clause: 0, character: Number.NaN },
])("refuses %j", (place) => {
  expect(() => spokenOf(greeting, place)).toThrow(ConfigurationError);
});

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const pieces = [
  "a",
  " ",
  "3.14",
  ". ",
  "...",
  "!",
  "?",
  ",",
  "。",
  "」",
  '"',
  ")",
  "é",
  "e\u0301",
  "\u0301",
  "\u200d",
  "👨‍👩‍👧",
  "🇩🇪",
  "\ud83d",
  "\udc00",
  "\r\n",
  "क्षि",
  "Dr.",
  "…",
];
const texts = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const places = fc.record({ clause: fc.nat(12), character: fc.integer({ min: -1, max: 20 }) });

describe("of any text", () => {
  test.prop([texts])("the clauses joined are the text, and none is empty", (text) => {
    const clauses = clausesOf(text);
    expect(clauses.join("")).toBe(text);
    expect(clauses).not.toContain("");
  });

  test.prop([texts, places])("the spoken part is a prefix, and ends between characters", (text, place) => {
    const spoken = spokenOf(text, place);
    expect(text.startsWith(spoken)).toBe(true);
    const starts = [...graphemes.segment(text)].map(({ index }) => index);
    expect([...starts, text.length]).toContain(spoken.length);
    // So that the machine, which counts in the whole answer, keeps the same.
    expect(charactersOf(spoken)).toBe(starts.filter((index) => index < spoken.length).length);
  });

  test.prop([texts, places])("the machine keeps the same of an answer, in well-formed text", (text, place) => {
    const machine = conversationMachine({ tools: [] });
    const begun = start(machine, { threadId: "t", at: 0 });
    const turn = transition(machine, begun.state, {
      type: "turn.added",
      at: 0,
      messages: [{ role: "assistant", content: text }],
    });
    // A journal does not keep this text, so it is never cut.
    fc.pre(turn.handled && text !== "");
    const characters = charactersOf(spokenOf(text, place));
    const cut = transition(machine, turn.state, { type: "answer.truncated", at: 0, turn: 1, characters });
    expect(messagesOf(cut.state).map(textOf)).toEqual([spokenOf(text, place).toWellFormed()]);
  });

  test.prop([texts, places, fc.nat(3), fc.nat(5)])(
    "a later place has more text",
    (text, place, clauses, characters) => {
      const { clause, character } = place;
      const spoken = spokenOf(text, place).length;
      expect(spokenOf(text, { clause: clause + clauses, character }).length).toBeGreaterThanOrEqual(spoken);
      expect(spokenOf(text, { clause, character: character + characters }).length).toBeGreaterThanOrEqual(spoken);
      if (clause + 1 < clausesOf(text).length)
        expect(spokenOf(text, { clause: clause + 1, character: -1 }).length).toBeGreaterThanOrEqual(spoken);
    },
  );
});

it.each(["a", ".", ",", "...a", '."', ". ", "。", '"', " a.b", "Dr. "])(
  "the time for a long text of %j is linear in its length",
  (piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length));
    // Quadratic time would take minutes, and reach the test's time limit.
    expect(clausesOf(text).join("")).toBe(text);
    expect(spokenOf(text, { clause: 100_000, character: 100_000 })).toBe(text);
  },
);

it("scans a run of wide marks that a combining one ends only once", () => {
  const text = `${"。".repeat(100_000)}\u0301`;
  expect(clausesOf(text)).toEqual([text]);
});
