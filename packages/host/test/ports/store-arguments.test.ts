import type { Entry } from "@colloquy/machine";
import { expect, test } from "vitest";
import { checkTtl, refuseGaps, refuseUnknownEntries } from "../../src/ports/store-arguments.ts";

const entry = (seq: number): Entry => ({ seq, event: { type: "cancel.requested", at: 0 } });

const isTaken = (check: () => void): boolean => {
  try {
    check();
    return true;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RangeError);
    return false;
  }
};

test("a store takes only the seqs that a journal may have, entries without gaps, and leases that can end", () => {
  const seqs = [-1, 0, 0.5, 7, 2 ** 31 - 1, 2 ** 31, Number.NaN];
  const taken = seqs.filter((seq) => isTaken(() => refuseUnknownEntries("t", [entry(0), entry(seq)])));
  expect(taken).toEqual([0, 7, 2 ** 31 - 1]);
  const lists = [[], [4], [4, 5], [3], [5], [4, 6]];
  expect(lists.filter((seqs) => isTaken(() => refuseGaps("t", 3, seqs.map(entry))))).toEqual([[], [4], [4, 5]]);
  expect(() => refuseGaps("t", 3, [4, 6].map(entry))).toThrow("an entry of seq 6 was given where 5 follows");
  expect([-1, 0, 1, Infinity, Number.NaN].filter((ttlMs) => isTaken(() => checkTtl(ttlMs)))).toEqual([0, 1, Infinity]);
});
