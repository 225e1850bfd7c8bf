import { parsePartialJson } from "ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerLevels } from "../../src/output/check.ts";
import { PartialJson, ShownOutput } from "../../src/output/partial-json.ts";
import { runs } from "../../../../test/runs.ts";

const readOf = (...pieces: readonly string[]): unknown => {
  const json = new PartialJson();
  for (const piece of pieces) json.add(piece);
  return json.value;
};

/** Removes the growing leaf. Another library (which refuses `__proto__`, and reads 1e+21 as 1) parses the rest. */
const settled = async (text: string): Promise<unknown> => {
  const quotes = [...text.matchAll(/(?<!\\)(?:\\\\)*"/g)];
  const open = quotes.length % 2 === 1 ? (quotes.at(-1)?.index ?? 0) : text.length;
  const cut = text.slice(0, open).replace(/[-+.\w]+$/, "");
  return (await parsePartialJson(cut.trim() === "" ? undefined : cut)).value;
};

describe("JSON that is being written", () => {
  test.each<[string, unknown]>([
    ["", undefined],
    ["{", {}],
    ['{"a', {}],
    ['{"a": tr', {}],
    ['{"a": true', {}],
    ['{"a": true ', { a: true }],
    ['{"a": 12', {}],
    ['{"a": 12,', { a: 12 }],
    ['{"a": "x', {}],
    ['{"a": "x\\"', {}],
    ['{"a": "\\u00', {}],
    ['{"a": "x"', { a: "x" }],
    ['{"a": {"b": [1, 2', { a: { b: [1] } }],
    ['[{"x":1},{"x"', [{ x: 1 }, {}]],
    ['"te', undefined],
    ['"text"', "text"],
    ['{"a":1} and more', { a: 1 }],
    ['{"a":1}{"b":2}', { a: 1 }],
    ["Here it is: {", undefined],
    ['{"a":nonsense,"b":1}', {}],
    ['{"a":[1,2},', { a: [1, 2] }],
    ['```json\n{"a":1,"b":2', { a: 1 }],
    ['``` {"a":1}\n{"b":2}', { b: 2 }],
    [' \t\r\n{"a":1}', { a: 1 }],
    ["true ", true],
    ["12\n", 12],
    ['["a\\\\","b"]', ["a\\", "b"]],
    ["{]", {}],
    ["[}1,", []],
    ['{"a":1]"b":2}', { a: 1 }],
    ['{1:2,"a":3}', {}],
    ['{{"a":1}}', {}],
    ["[1]2 ", [1]],
    ['{"a":1,"a":2,', { a: 2 }],
  ])("%s is %j", (text, value) => expect(readOf(text)).toEqual(value));

  test("is read as deep as an answer may be", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(JSON.stringify(readOf(nested(answerLevels)))).toBe(nested(answerLevels));
    expect(JSON.stringify(readOf(nested(1_000)))).toBe(nested(answerLevels));
  });

  test("is at each place what another library reads of it, without the leaf that may still grow", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 3 }).filter((text) => !/__proto__|\de[+-]/.test(text)),
        fc.nat(),
        async (text, at) => {
          const prefix = text.slice(0, at % (text.length + 1));
          expect(readOf(prefix)).toEqual(await settled(prefix));
        },
      ),
      { numRuns: runs(300), seed: 7 },
    );
  });

  test("is the same however it is cut into pieces, and in the end the whole of it", () => {
    const written = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(written, fc.array(fc.nat({ max: 9 })), fc.constantFrom(0, 2), (value, cuts, indent) => {
        const text = JSON.stringify(value, null, indent);
        const pieces = cuts.reduce<string[]>(
          ([rest = "", ...before], cut) => [rest.slice(cut), ...before, rest.slice(0, cut)],
          [text],
        );
        const [rest = "", ...before] = pieces;
        expect(readOf(...before, rest)).toEqual(JSON.parse(text));
      }),
      { numRuns: runs(200), seed: 7 },
    );
  });

  test("is shown as often as it costs: twice as long a list is shown a few dozen times more, not twice as often", () => {
    const shownOf = (elements: number): number => {
      const shown = new ShownOutput();
      const text = JSON.stringify(Array.from({ length: elements }, (_, index) => index));
      return text.match(/.{1,4}/g)?.filter((piece) => shown.add(piece) !== undefined).length ?? 0;
    };
    const [once, twice] = [shownOf(10_000), shownOf(20_000)];
    expect(once).toBeGreaterThan(100);
    expect(twice - once).toBeLessThan(60);
    const growing = new ShownOutput();
    const whole = `[${"1,".repeat(3_199)} `;
    // Shown again after a 64th of its 6400 characters.
    const pieces = [whole, `${"1,".repeat(49)} `, "1", ",1,"];
    expect(pieces.map((piece) => growing.add(piece) !== undefined)).toEqual([true, false, true, false]);
    const short = new ShownOutput();
    expect(["{", " ", '"a":1,'].map((piece) => short.add(piece))).toEqual([{}, undefined, { a: 1 }]);
  });
});
