import type { MachineOptions } from "@colloquy/machine";
import { scheduleFor } from "@colloquy/runtime-test/arbitraries";
import { LawBroken, laws } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { expect, test } from "vitest";
import { spread } from "../runs.ts";
import { faults } from "./faults.ts";

const options: MachineOptions = {
  tools: [{ name: "search" }, { name: "pay", recovery: "once" }, { name: "post", approval: "always" }],
  unknownTool: "ask",
  overlap: { type: "queue", max: 2 },
};

test.each(spread(faults, 12))("$law catches a machine that $what", ({ law, subject, options: further }) => {
  const configured = { ...options, ...further };
  const found = fc.check(
    fc.property(scheduleFor(configured), (schedule) => laws[law](configured, schedule, subject())),
    // Seeded, so that no run is unlucky; not shrunk, since only the finding counts.
    { numRuns: 400, seed: 1, endOnFailure: true },
  );
  expect(found.failed).toBe(true);
  expect(found.errorInstance).toBeInstanceOf(LawBroken);
  expect(found.errorInstance).toHaveProperty("law", law);
});

test("every law is shown to catch a fault", () => {
  expect(new Set(faults.map(({ law }) => law))).toEqual(new Set(Object.keys(laws)));
});
