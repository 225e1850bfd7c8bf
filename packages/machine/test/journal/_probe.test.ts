import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { test, expect } from "vitest";
import { conversationMachine, fold, redactEntry, replay, entriesToRedact, type MachineOptions, lastTurns } from "../../src/index.ts";
const options: MachineOptions = { tools: [{ name: "lookup" }, { name: "pay", approval: "always" }], policy: lastTurns(2), overlap: { type: "steer", max: 3 }, limits: { steps: 4 } };
test("x", () => {
  const machine = conversationMachine(options);
  let n = 0;
  fc.assert(fc.property(journalArbitrary(options), fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (entries, picks) => {
    fc.pre(Either.isRight(replay(machine, entries)));
    const read = entriesToRedact(entries, { seqs: [...new Set(picks.map((p) => p % entries.length))] });
    if (Either.isLeft(read)) throw new Error(read.left);
    const without = entries.map((e) => read.right.includes(e.seq) ? redactEntry(e) : e);
    const replayed = replay(machine, without);
    n++;
    expect(Either.isLeft(replayed) ? replayed.left : null).toBeNull();
    expect(replayed).toEqual(fold(without));
  }), { numRuns: 1500 });
  console.log(n);
});
