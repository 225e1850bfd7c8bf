import type { Json, JsonObject } from "@colloquy/machine";
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

/** What an arbitrary draws. */
export type Drawn<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

export type Fields<Members extends object> = { readonly [Name in keyof Members]: fc.Arbitrary<Members[Name]> };

/** Returns an arbitrary of plain objects with all `required` members, and each of the others sometimes. */
export function recordOf<Required extends object, Optional extends object = object>(
  required: Fields<Required>,
  optional?: Fields<Optional>,
): fc.Arbitrary<NoInfer<Required> & Partial<Optional>> {
  const requiredKeys = Object.keys(required) as (keyof (Required | Optional))[];
  // The compiler does not resolve what fast-check infers of generic members.
  return fc.record({ ...required, ...optional }, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<
    Required & Partial<Optional>
  >;
}

/** JavaScript does not preserve a member called `__proto__`; the codec refuses it. */
const memberName = nameArbitrary.filter((name) => name !== "__proto__");

const { json } = fc.letrec<{ json: Json; list: readonly Json[]; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: fc.oneof(textArbitrary, fc.integer(), fc.boolean(), fc.constant(null)) },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) },
    { weight: 1, arbitrary: tie("list") },
    { weight: 1, arbitrary: tie("object") },
  ),
  list: fc.array(tie("json"), { maxLength: 3 }),
  object: objectOf(tie("json")),
}));

/** Any JSON value. Never -0, which is 0 in JSON. */
export const jsonArbitrary: fc.Arbitrary<Json> = json;

/** Any JSON object with a few members; some of their names have a meaning in JavaScript. */
export const jsonObjectArbitrary: fc.Arbitrary<JsonObject> = objectOf(json);

function objectOf(value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(memberName, value, { maxKeys: 3, noNullPrototype: true });
}
