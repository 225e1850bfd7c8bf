import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import {
  base64Of,
  defined,
  excerpt,
  isJsonObject,
  parsedJson,
  plainJson,
  presentOf,
  without,
} from "../../src/exchange/json.ts";

const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

test.each<readonly [unknown, string]>([
  ["x".repeat(198), `"${"x".repeat(198)}"`],
  ["x".repeat(199), `"${"x".repeat(199)}…`],
  [undefined, "undefined"],
  [7n, "a bigint that has no JSON"],
  [{ a: 1 }, '{"a":1}'],
])("excerpt shortens the JSON of a value to 200 characters: %#", (value, words) => {
  expect(excerpt(value)).toBe(words);
});

test.each<readonly [string, unknown, unknown]>([
  ["members that are undefined", { a: undefined, b: null }, { b: null }],
  ["a list with an undefined element", [1, undefined, null], [1, null, null]],
  ["a URL", new URL("https://example.org/a"), "https://example.org/a"],
  ["an object with the members of a URL", { href: "https://example.org/a" }, { href: "https://example.org/a" }],
  ["bytes", new Uint8Array([1, 2]), { bytes: "AQI=" }],
  ["a buffer", new Uint8Array([1, 2]).buffer, { bytes: "AQI=" }],
  ["200 levels of lists", nested(200), nested(200)],
])("plainJson converts %s", (_, value, json) => {
  expect(plainJson(value)).toEqual(Either.right(json));
});

test("plainJson and parsedJson reject values that JSON cannot express or that nest more than 200 levels", () => {
  for (const value of [() => 1, 7n, Number.NaN, nested(201)]) expect(Either.isLeft(plainJson(value))).toBe(true);
  for (const text of ["{", "", `${"[".repeat(201)}${"]".repeat(201)}`]) expect(parsedJson(text)).toBeUndefined();
  expect(parsedJson('{"a":[null]}')).toEqual({ a: [null] });
});

test("presentOf drops null and empty lists and objects, without drops named members, defined drops undefined ones", () => {
  const fields = { a: null, b: [], c: {}, d: 0, e: false, f: "", g: [null] };
  expect(presentOf(fields)).toEqual({ d: 0, e: false, f: "", g: [null] });
  expect(without(fields, ["a", "b", "c", "g"])).toEqual({ d: 0, e: false, f: "" });
  expect(defined({ a: undefined, b: null })).toEqual({ b: null });
  expect([{}, [], null, "a", undefined].map(isJsonObject)).toEqual([true, false, false, false, false]);
});

test.each([0, 1, 2, 3, 4, 5, 255])("base64Of encodes %i bytes as Buffer does", (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => 255 - index);
  expect(base64Of(bytes)).toBe(Buffer.from(bytes).toString("base64"));
});
