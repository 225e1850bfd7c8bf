import { keepAll, lastMessages, lastTurns, type Policy, tokenWindow } from "@colloquy/machine/policies";
import type { MachineOptions } from "@colloquy/machine";
import { scheduleFor } from "@colloquy/runtime-test/arbitraries";
import { badOptionsAreRefused, cutsSeldom, LawBroken, policyLaws, runPolicy } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { spread } from "../runs.ts";
import { policyFaults } from "./policy-faults.ts";

const defaults: MachineOptions = {
  tools: [{ name: "search" }, { name: "pay", recovery: "once" }],
  unknownTool: "ask",
  overlap: { type: "queue", max: 2 },
  budget: { tokens: 400, reserve: 0 },
};

describe("each law of pruning catches a fault", () => {
  test.each(spread(policyFaults, 10))("$law, of one that $what", ({ law, options, subject }) => {
    const configured = { ...defaults, ...options };
    const found = fc.check(
      fc.property(scheduleFor(configured), (schedule) => {
        const how = subject === undefined ? {} : { subject: subject() };
        policyLaws[law](runPolicy(configured, schedule, how));
      }),
      // Seeded, so that no run is unlucky; not shrunk, since only the finding counts.
      { numRuns: 400, seed: 1, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
    expect(found.errorInstance).toBeInstanceOf(LawBroken);
    expect(found.errorInstance).toHaveProperty("law", law);
  });

  test("every law is among them", () => {
    expect(new Set(policyFaults.map(({ law }) => law))).toEqual(new Set(Object.keys(policyLaws)));
  });

  test.each<readonly [string, Policy]>([
    ["a window of tokens", { ...tokenWindow(), stable: true }],
    ["a window of turns", { ...lastTurns(3), stable: true }],
    ["a window of messages with too little slack", { ...lastMessages({ max: 8, keepRecent: 7 }), stable: true }],
  ])("P9, of %s that is declared stable and moves with every turn", (_, policy) => {
    expect(() => cutsSeldom({ policy })).toThrow(
      /P9: .* is declared stable, and in a conversation of 80 equal turns it cuts in/,
    );
  });

  test("P7, of options that are taken, refused without the value, or refused as something else", () => {
    const bad = (build: () => unknown) => badOptionsAreRefused([{ what: "window(-1)", build, value: "-1" }]);
    expect(() => bad(() => keepAll())).toThrow("P7: window(-1) is taken");
    expect(() => bad(() => lastTurns(-2))).toThrow(/P7: window\(-1\) is refused without naming -1: .*-2/);
    expect(() => {
      bad(() => {
        throw new RangeError("-1");
      });
    }).toThrow(/P7: window\(-1\) is refused with .*, no ConfigurationError/);
  });
});
