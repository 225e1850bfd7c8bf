import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyFilter } from "../../src/secrets/key-filter.ts";
import { runs } from "../../../../test/runs.ts";

const key = "sk-test-key-0123456789";
const header = "azure+secret/1==";

describe("a filter of keys", () => {
  const letters = fc.constantFrom("a", "b");
  const word = fc.string({ unit: letters, minLength: 8, maxLength: 12 });
  const keys = fc.array(word, { minLength: 1, maxLength: 3 });
  /** Draws texts of keys, of parts of them, and of other text. */
  const textFrom = (known: readonly string[]) =>
    fc
      .array(
        fc.oneof(
          fc.constantFrom(...known),
          fc.tuple(fc.constantFrom(...known), fc.nat(12)).map(([each, length]) => each.slice(0, length)),
          fc.string({ unit: letters, maxLength: 3 }),
          fc.constant("-"),
        ),
        { maxLength: 6 },
      )
      .map((parts) => parts.join(""));

  test("shows no key, and in pieces the same as in one", () => {
    fc.assert(
      fc.property(
        keys.chain((known) => fc.tuple(fc.constant(known), textFrom(known), fc.array(fc.nat(40), { maxLength: 8 }))),
        ([known, text, cuts]) => {
          const filter = keyFilter(known);
          const whole = filter.text(text);
          for (const each of known) expect(whole).not.toContain(each);
          const pieces = filter.pieces();
          const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
          const shown = [...ends, text.length].map((end, index) => pieces.push(text.slice(ends[index - 1] ?? 0, end)));
          expect(shown.join("") + pieces.end()).toBe(whole);
        },
      ),
      { seed: 9, numRuns: runs(1000) },
    );
  });

  test("shows no more than five characters of a key that a text ends with a part of", () => {
    const shown = (end: string) => keyFilter([key]).json({ text: `It is ${end}` }).text;
    expect(shown(key.slice(0, 5))).toBe("It is sk-te");
    expect(shown(key.slice(0, 6))).toBe("It is [redacted]");
    expect(shown(key.slice(0, -1))).toBe("It is [redacted]");
  });

  test("leaves what begins a key of a provider to a tool that looks for it", () => {
    const given = ["toolu_1", "grep", '{"pattern":"sk-proj-"}', "{}", "key"];
    expect(keyFilter(["sk-proj-0123456789abcdefghij"]).json(given)).toBe(given);
  });

  test.each([
    ["as PHP writes a slash", "aws/secret/1==", String.raw`{"q":"aws\/secret\/1=="}`],
    ["as .NET writes a plus", header, String.raw`{"q":"azure\u002Bsecret/1=="}`],
    [
      "in full",
      key,
      `[{"${Array.from(key, (letter) => String.raw`\u00${letter.charCodeAt(0).toString(16)}`).join("")}":1}]`,
    ],
  ])("takes out a key behind the escapes of JSON: %s", (_, secret, written) => {
    const filter = keyFilter([secret]);
    expect(JSON.parse(written)).not.toBe(null);
    expect(filter.text(written)).toMatch(/"\[redacted\]"/);
    expect(filter.json({ arguments: written }).arguments).toMatch(/"\[redacted\]"/);
    const innocent = String.raw`{"q":"a\/b \u002B \\u002B \"\n${secret.slice(0, 5)}"}`;
    expect(filter.json({ arguments: innocent }).arguments).toBe(innocent);
    const mixed = String.raw`{"p":"C:\\u0041 \"\n\u0022","q":` + written + "}";
    expect(JSON.parse(filter.text(mixed))).toMatchObject({ p: JSON.parse(String.raw`"C:\\u0041 \"\n\u0022"`) });
  });

  test("leaves escapes alone in a text that is not JSON, where they hide nothing from a reader", () => {
    const filter = keyFilter(["aws/secret/1=="]);
    const text = String.raw`It is aws\/secret\/1==`;
    expect(filter.text(text)).toBe(text);
    expect(filter.text(` [${JSON.stringify("aws/secret/1==").replaceAll("/", String.raw`\/`)}]`)).toBe(
      ' ["[redacted]"]',
    );
  });

  test("gives back the value itself where there is nothing to take out", () => {
    const value = { a: ["words", 1, null, { b: true }] };
    expect(keyFilter([key]).json(value)).toBe(value);
    expect(keyFilter([key]).json({ [key]: [{ a: key }] })).toEqual({ "[redacted]": [{ a: "[redacted]" }] });
  });

  test("shows at once what can't become a key", () => {
    const pieces = keyFilter([key]).pieces();
    expect(["It ", "is sk", "y", " blue: sk-t", "ea"].map((piece) => pieces.push(piece))).toEqual([
      "It ",
      "is ",
      "sky",
      " blue: ",
      "sk-tea",
    ]);
  });

  test("replaces a key at once when its last piece arrives, also if a longer key is known", () => {
    const other = `${header}-and-more-than-that`;
    const pieces = keyFilter([other, key]).pieces();
    expect(["It is ", key.slice(0, 9), key.slice(9), "."].map((piece) => pieces.push(piece))).toEqual([
      "It is ",
      "",
      "[redacted]",
      ".",
    ]);
    expect(pieces.end()).toBe("");
  });

  test("removes keys of eight characters, and leaves shorter ones", () => {
    expect(keyFilter(["12345678", "1234567"]).text("12345678, 1234567.")).toBe("[redacted], 1234567.");
    const pieces = keyFilter(["1234567"]).pieces();
    expect([pieces.push("1234567"), pieces.end()]).toEqual(["1234567", ""]);
  });
});
