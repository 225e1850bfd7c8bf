// `pnpm test` checks some of the policies. The long run checks all, and one with as many conversations as by default.
import { keepAll } from "@colloquy/machine/policies";
import { realSubject, type Subject } from "@colloquy/runtime-test/arbitraries";
import { checkPolicyLaws } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";
import "./check-policy-laws.test.ts";

test("a check looks at 100 conversations by default, and at some twenty prompts of each", () => {
  const counts = { start: 0, promptOf: 0 };
  const subject: Subject = {
    ...realSubject,
    start: (machine, input) => {
      counts.start += 1;
      return realSubject.start(machine, input);
    },
    promptOf: (machine, state) => {
      counts.promptOf += 1;
      return realSubject.promptOf(machine, state);
    },
  };
  expect(checkPolicyLaws(keepAll(), { seed: 1, subject }).conversations).toBe(100);
  expect(counts.start).toBe(100);
  expect(counts.promptOf).toBeLessThan(5_000);
});
