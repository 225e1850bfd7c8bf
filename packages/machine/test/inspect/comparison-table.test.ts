import { expect, test } from "vitest";
import { messageFromDraft } from "../../src/index.ts";
import { comparisonTable, firstWords } from "../../src/inspect.ts";
import type { PromptComparison } from "../../src/inspect/comparison.ts";

type Journal = PromptComparison["journals"][number];
type Figures = PromptComparison["before"];
type Broken = Figures["broken"][number];

const journal: Journal = { name: "a", unreadable: null, calls: 1, imported: 0, differing: 0, first: null };
const sketch = { messages: 1, tokens: 10, message: null, fits: true, policy: "keep-all@1", reason: "all" };
const first = { seq: 3, turn: 2, step: 1, attempt: 1, index: 0, before: sketch, after: sketch };
const figures: Figures = {
  policy: "keep-all@1",
  sent: 4,
  tokens: 200,
  keptTokens: 150,
  lostTokens: 0,
  uncounted: 0,
  cuts: 0,
  summaries: { asked: 0, answered: 0, tokens: 0 },
  broken: [],
};
const broken = (count: number): readonly Broken[] =>
  Array.from({ length: count }, (_, at) => ({ journal: "a", seq: at, turn: 1, step: 1, law: "fits", reason: "full" }));

const linesOf = (journals: readonly Journal[], before: Partial<Figures> = {}, after: Partial<Figures> = {}) =>
  comparisonTable({ journals, before: { ...figures, ...before }, after: { ...figures, ...after } }).split("\n");

test.each<readonly [Partial<Journal>, readonly string[]]>([
  [{ unreadable: "no start" }, ["a: can't be compared: no start"]],
  [{ calls: 0 }, ["a: nothing to compare: no model call was made in it"]],
  [{}, ["a: 1 call, the same prompts"]],
  [{ calls: 2, imported: 1 }, ["a: 2 calls (1 of them imported), the same prompts"]],
  [
    { differing: 1, first },
    [
      "a: 1 call, 1 with another prompt; the first at entry 3 (turn 2, step 1): message 0 is the first to differ",
      "  before  1 message, 10 tokens (keep-all@1: all)",
      "  after   1 message, 10 tokens (keep-all@1: all)",
    ],
  ],
  [
    {
      differing: 1,
      first: { ...first, attempt: 2, index: null, after: { ...sketch, messages: 2, tokens: null, fits: false } },
    },
    [
      "a: 1 call, 1 with another prompt; the first at entry 3 (turn 2, step 1, attempt 2): the prompt is the same",
      "  before  1 message, 10 tokens (keep-all@1: all)",
      "  after   2 messages, ? tokens, does not fit (keep-all@1: all)",
    ],
  ],
])("the table names what became of a journal: %j", (given, lines) => {
  expect(linesOf([{ ...journal, ...given }]).slice(0, lines.length)).toEqual(lines);
});

test("the table has figures only if a call was compared, and rows only for what happened", () => {
  expect(linesOf([{ ...journal, calls: 0 }])).toHaveLength(1);
  const after = { sent: 3, tokens: 250, keptTokens: 150, cuts: 2, summaries: { asked: 1, answered: 0, tokens: 40 } };
  expect(`\n${linesOf([journal], {}, after).join("\n")}\n`).toMatchInlineSnapshot(`
    "
    a: 1 call, the same prompts

                                           before       after        change
    policy                             keep-all@1  keep-all@1
    prompts sent                                4           3    -1 (-25 %)
    tokens sent                               200         250   +50 (+25 %)
      kept from the prompt before             150         150
      new                                      50         100  +50 (+100 %)
    tokens that fell out of the cache           0           0
    cuts                                        0           2            +2
    summaries asked for                         0           1            +1
      tokens to ask for them                    0          40           +40
    laws broken                                 0           0
    "
  `);
});

test("the table gives a change of one as a share, and a share of less than half a percent as 0 without a sign", () => {
  const lines = linesOf([journal], { tokens: 1_000 }, { sent: 5, tokens: 1_001 });
  expect(lines.find((line) => line.startsWith("prompts sent"))).toMatch(/ 4 +5 +\+1 \(\+25 %\)$/);
  expect(lines.find((line) => line.startsWith("tokens sent"))).toMatch(/ 1000 +1001 +\+1 \(0 %\)$/);
});

/** Returns a text in so many columns, and one in a column more with its form in a table. */
const around = (columns: number): readonly [string, string, string] => {
  const text = "x".repeat(columns);
  return [text, `${text}x`, `${text.slice(1)}…`];
};

test("the table cuts the reason of an unreadable journal and of a broken law at 160 columns", () => {
  const [fitting, long, cut] = around(160);
  const reasons = [fitting, long].map((reason) => linesOf([{ ...journal, unreadable: reason, calls: 0 }])[0]);
  expect(reasons).toEqual([`a: can't be compared: ${fitting}`, `a: can't be compared: ${cut}`]);
  const laws = [fitting, long].flatMap((reason) => broken(1).map((law) => ({ ...law, reason })));
  const lines = linesOf([journal], { broken: laws });
  expect(lines.slice(-2).map((line) => line.split("): ")[1])).toEqual([fitting, cut]);
});

test("the table cuts the words of a message at 40 columns, and the policy with its reason at 80", () => {
  const [text, longText, cutText] = around(40);
  const [reason, longReason, cutReason] = around(80 - "keep-all@1: ".length);
  const sketchOf = (content: string, why: string) => ({
    ...sketch,
    message: messageFromDraft("1.0", { role: "user", content }),
    reason: why,
  });
  const differing = { ...first, before: sketchOf(text, reason), after: sketchOf(longText, longReason) };
  expect(linesOf([{ ...journal, differing: 1, first: differing }]).slice(1, 3)).toEqual([
    `  before  1 message, 10 tokens: 1.0 user "${text}" (keep-all@1: ${reason})`,
    `  after   1 message, 10 tokens: 1.0 user "${cutText}" (keep-all@1: ${cutReason})`,
  ]);
});

test.each([
  [5, 5, null],
  [6, 5, "  and 1 more"],
])("of %i broken laws the table names %i", (count, named, more) => {
  const lines = linesOf([journal], {}, { broken: broken(count) });
  const from = lines.indexOf("laws broken after:") + 1;
  const expected = broken(named).map(({ seq }) => `  fits  a, entry ${seq} (turn 1, step 1): full`);
  expect(lines.slice(from)).toEqual(more === null ? expected : [...expected, more]);
  expect(lines[from - 2]).toBe("");
});

test.each([
  ["exactly ten", "aaaaaaaaaa", "aaaaaaaaaa"],
  ["one column more", "aaaaaaaaaaa", "aaaaaaaaa…"],
  ["a wide character at the last column", "aaaaaaaa明日", "aaaaaaaa…"],
  ["accents, which take no column", "e\u0301".repeat(10), "e\u0301".repeat(10)],
  ["a letter with an accent more", "e\u0301".repeat(11), `${"e\u0301".repeat(9)}…`],
  ["a word after a few spaces", `a${" ".repeat(78)}b`, "a b"],
  ["a word after very many spaces", `a${" ".repeat(79)}b`, "a…"],
])("firstWords shows %s in at most ten columns", (_, text, shown) => {
  expect(firstWords(text, 10)).toBe(shown);
});
