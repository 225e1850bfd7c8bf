import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";

test.each(["lost", "carryOver"] as const)(
  "an ask continues after sixteen lost leases or entries, and no more: %s",
  (how) => {
    const ask = new Ask("t", "a", undefined, () => true);
    expect(ask.isCarried).toBe(false);
    for (let times = 1; times <= 16; times++) expect([times, ask[how](), ask.isCarried]).toEqual([times, true, true]);
    expect(ask[how]()).toBe(false);
  },
);
