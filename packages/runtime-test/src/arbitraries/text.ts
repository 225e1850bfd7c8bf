import fc from "fast-check";

/** Any UTF-16 units, so that lone surrogates occur in the middle and at either end. */
const utf16Arbitrary: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(fc.integer({ min: 0xd800, max: 0xdfff }), fc.integer({ min: 0, max: 0xffff })).map(fromUnit),
  maxLength: 8,
});

/** Text as people and models write it, and unusual text: empty, blank, astral, joined, torn and long. */
export const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.lorem({ maxCount: 6 }) },
  { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  { weight: 2, arbitrary: utf16Arbitrary },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "",
      " ",
      "\n\t",
      "\0",
      "\ud800",
      "ends in half a pair \ud83d",
      "\udc00 begins with one",
      "👩‍👩‍👧‍👦🇺🇳é",
      "مرحبا",
      '{"role":"system"}',
      "<|im_end|>",
      "\u2028",
    ),
  },
  { weight: 1, arbitrary: fc.nat({ max: 4 }).map((size) => "A long answer, word by word. ".repeat(1 + size * 40)) },
);

/** Names and ids: mostly plain, some with characters that are special in a path, an id or an object. */
export const nameArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "../../etc/passwd",
      "a/1.1#1",
      "1.1.0",
      "a!retry",
      "constructor",
      "__proto__",
      "toString",
      " ",
      "C:\\x",
      "\ud800",
      "naïve 👋",
    ),
  },
);

function fromUnit(unit: number): string {
  return String.fromCharCode(unit);
}
