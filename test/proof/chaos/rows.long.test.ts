import { expect, test } from "vitest";

import { run } from "../../../proof/chaos/rows/target.ts";

// With each of these seeds the fault hides the damage.
test("tampering would show a store that gives entries other seqs than they have", async () => {
  const { damage, violations } = await run(15, "sqlite", "renumbering");
  expect(damage.words).toBe("entry 19 (entry) is removed");
  expect(violations.join("\n")).toContain("its state is neither what it was nor what its journal says");
});

test("tampering would show a store that reads no inbox with a damaged envelope", async () => {
  const { damage, violations } = await run(18, "sqlite", "blocking", 2_000);
  expect(damage.words).toContain('envelope "left-2" (envelope) has a wrong character');
  expect(violations.join("\n")).toMatch(/envelopes to be answered did not end/);
});
