import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countText } from "../../src/tokens/gpt-counter.ts";
import { loadEncoding } from "../../src/tokens/encoding.ts";
import type { Tokenizer } from "../../src/tokens/tokenizer.ts";
import { plainEncode } from "./plain-encode.ts";
import { runs } from "../../../../test/runs.ts";

const encodings = ["o200k_base", "cl100k_base"] as const;

const texts: readonly string[] = [
  "",
  " ",
  "Hello, world! It's 10:45.",
  "<|endoftext|><|im_start|>system<|im_sep|>obey<|im_end|> <|fim_prefix|> <|endofprompt|>",
  "<|endoftext",
  "\n\n  \t\r\n   indented\n",
  "    const x = { y: [1, 22, 333, 4444] }; // ===== \n",
  "Grüße, naïve café, e\u0301",
  "日本語の文章です。中文也可以。한국어도",
  "Привет, как дела? שלום مرحبا ไทยแลนด์ नमस्ते",
  "🙂👍🏽👨‍👩‍👧 flags 🇳🇴",
  "half a character: \ud83d and \udc4d",
  "\u0000\u0007\ufeff\u200b",
];

/** Characters whose runs an encoding handles in different ways. */
const alphabets = [
  "ab",
  "etaoinshrdlu",
  "AbC",
  " ",
  " \t",
  "\n/!",
  "-=",
  "漢字",
  "한글",
  "я",
  "🙂👍🏽",
  "e\u0301",
  "\ud83da",
  "'s",
  "012",
];

/** Draws a text that is mostly one long run. */
const repeated = fc
  .record({
    alphabet: fc.constantFrom(...alphabets).map((characters) => Array.from(characters)),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 24 }),
    length: fc.integer({ min: 200, max: 1_200 }),
    start: fc.constantFrom("", " ", "x ", "«"),
    end: fc.constantFrom("", " ", ".", "\n\n1"),
  })
  .map(({ alphabet, picks, length, start, end }) => {
    const motif = picks.map((pick) => alphabet[pick % alphabet.length] ?? "").join("");
    return start + motif.repeat(Math.ceil(length / motif.length)) + end;
  });

/** Draws runs without a period, which have no good place to cut. */
const noise = fc
  .tuple(
    fc.constantFrom("ab", "etaoinshrdlu", "-=+*", "漢字仮名", "абвг"),
    fc.array(fc.nat(), { minLength: 300, maxLength: 900 }),
  )
  .map(([alphabet, picks]) => picks.map((pick) => alphabet[pick % alphabet.length]).join(""));

describe.each(encodings)("the count of a text in %s", (encoding) => {
  test.each(texts)("is that of gpt-tokenizer: %j", async (text) => {
    expect(countText(await loadEncoding(encoding), text)).toBe(plainEncode(encoding, text).length);
  });

  test("is that of gpt-tokenizer for any text", async () => {
    const tokenizer = await loadEncoding(encoding);
    const any = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.lorem(), fc.json());
    fc.assert(fc.property(any, (text) => countText(tokenizer, text) === plainEncode(encoding, text).length));
  });

  test("is that of gpt-tokenizer for long runs, though they are encoded in parts", async () => {
    const tokenizer = await loadEncoding(encoding);
    fc.assert(
      fc.property(
        fc.oneof(repeated, noise),
        (text) => countText(tokenizer, text) === plainEncode(encoding, text).length,
      ),
      { numRuns: runs(200) },
    );
  });

  test.each([
    ["letters", "a"],
    ["capitals", "A"],
    ["white space", " "],
    ["new lines", "\n"],
    ["signs", "="],
    ["ideographs", "漢"],
    ["emoji", "👨‍👩‍👧"],
    ["a word", "abracadabra"],
  ])("takes work in proportion to a run of %s", async (_, repeated) => {
    const text = repeated.repeat(Math.ceil(200_000 / repeated.length));
    const tokenizer = limited(await loadEncoding(encoding), text.length * 256 * 4);
    expect(countText(tokenizer, text)).toBeGreaterThan(1_000);
  });
});

test("a window is widened if its end would change the tokens around it", () => {
  // A run begins with a single letter and continues in pairs, unless there are 300 letters, which are one token.
  const encode = (piece: string): readonly number[] => {
    if (piece === "") return [];
    if (piece.length >= 300) return [300, ...encode(piece.slice(300))];
    return [1, ...Array<number>(Math.ceil((piece.length - 1) / 2)).fill(2)];
  };
  const tokenizer: Tokenizer = { piecesOf: (text) => [text], encode, spell: (token) => "a".repeat(token) };
  expect(countText(tokenizer, "a".repeat(600))).toBe(2);
});

test.each([
  ["texts", (character: string, part: number) => (part === 0 ? character : "")],
  ["bytes", (character: string, part: number) => new TextEncoder().encode(character).subarray(2 * part, 2 * part + 2)],
] as const)("countText never cuts a character in two, whatever its length, if tokens are %s", (_, spellOf) => {
  // Each character has two tokens, which no other character has.
  const encoded: string[] = [];
  const tokenizer: Tokenizer = {
    piecesOf: (text) => [text],
    encode: (piece) => {
      encoded.push(piece);
      return Array.from(piece, (character) => character.codePointAt(0) ?? 0).flatMap((code) => [
        2 * code,
        2 * code + 1,
      ]);
    },
    spell: (token) => spellOf(String.fromCodePoint(Math.floor(token / 2)), token % 2),
  };
  for (const [first, step] of [
    [0x1_f300, 1],
    [0x6f00, 1],
    [0x400, 0xd000],
  ] as const) {
    const characters = Array.from({ length: 900 }, (__, index) =>
      String.fromCodePoint(first + (index % 2) * step + index),
    );
    expect(countText(tokenizer, `a${characters.join("")}`)).toBe(2 + 2 * characters.length);
  }
  // The first window would end in the middle of the character.
  expect(countText(tokenizer, `${"a".repeat(255)}\u{1f642}${"b".repeat(300)}`)).toBe(2 * 556);
  expect(encoded.every((piece) => piece.isWellFormed())).toBe(true);
  expect(encoded.length).toBeGreaterThan(9);
});

test("text of which no part can be encoded by itself still takes work in proportion", () => {
  let encoded = 0;
  // Every encoding has another first token, so no window continues the previous one.
  const tokenizer: Tokenizer = {
    piecesOf: (text) => [text],
    encode: (piece) => {
      encoded++;
      return Array.from({ length: piece.length }, (_, index) => encoded * 10_000 + index);
    },
    spell: () => "a",
  };
  expect(countText(limited(tokenizer, 200_000 * 4_096 * 4), "a".repeat(200_000))).toBe(200_000);
});

/** Makes a tokenizer that refuses more than `workMax` work; an encoding takes quadratic time. */
const limited = (tokenizer: Tokenizer, workMax: number): Tokenizer => {
  let work = 0;
  const encode = (piece: string): readonly number[] => {
    work += piece.length ** 2;
    if (work > workMax) throw new Error(`more work than ${workMax}: ${piece.length} characters at once`);
    return tokenizer.encode(piece);
  };
  return { ...tokenizer, encode };
};
