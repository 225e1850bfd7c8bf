import { describe, expect, test } from "vitest";
import type { Shrink } from "../../src/policies.ts";
import { countsOf } from "../../src/prompt/counts.ts";
import { chunksOf } from "../../src/thread/chunks.ts";
import type { Turn } from "../../src/thread/turn.ts";
import { characters, said } from "./policies/made-up-history.ts";

const long = said("1.0", "user", "x".repeat(5_000));
const limit = (length: number, more: Partial<Shrink> = {}): Shrink => ({
  rule: "headAndTail",
  of: "messages",
  characters: length,
  ...more,
});

test("the messages of a turn are summed once, and those of turns that lie together", () => {
  const { turn, run, together } = countsOf(characters);
  let looked = 0;
  const closed = {
    get messages() {
      looked++;
      return chunksOf([long]);
    },
    // The counted part of a turn are its messages.
  } as Turn;
  expect([turn(closed), turn(closed), looked]).toEqual([5_001, 5_001, 1]);
  const turns = [closed];
  expect(run(turns)).toEqual([5_001]);
  expect(run(turns)).toBe(run(turns));
  const whole = { starts: [0], messages: [long], completed: true };
  const shown = [{ messages: chunksOf([long]), outcome: { status: "completed" } } as Turn];
  expect(together(shown)).toEqual(whole);
  expect(together(shown)).toBe(together(shown));
});

describe("what becomes of a message", () => {
  test("is the same object for the same rules, wherever they apply", () => {
    const { shrink } = countsOf(characters);
    const shrunk = shrink(long, [limit(300)]);
    expect(shrink(long, [limit(300, { before: { turn: 4, unit: 0 } })])).toBe(shrunk);
    expect(shrink(long, [limit(301)])).not.toEqual(shrunk);
  });

  test("is not taken for that of other rules, whatever a tool is called", () => {
    const { shrink } = countsOf(characters);
    const one = [limit(300, { tool: "read\nclear messages 200 " })];
    const two = [limit(300, { tool: "read" }), limit(200, { rule: "clear" })];
    expect(shrink(long, one)).not.toEqual(shrink(long, two));
  });

  test("is kept for the newest rules alone", () => {
    const { shrink } = countsOf(characters);
    const first = shrink(long, [limit(300)]);
    for (let length = 301; length < 316; length++) shrink(long, [limit(length)]);
    expect(shrink(long, [limit(300)])).toBe(first);
    shrink(long, [limit(316)]);
    const again = shrink(long, [limit(300)]);
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});
