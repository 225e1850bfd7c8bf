import { expect, test } from "vitest";

import { faults } from "../../../proof/vectors/fault-list.ts";
import { uncaughtFaults } from "../../../proof/vectors/faults.ts";
import { spread } from "../../runs.ts";

test("each fault of the machine that a run tries, of twenty, is caught by a vector", async () => {
  expect(new Set(faults.map((fault) => fault.join("\n"))).size).toBe(20);
  expect(await uncaughtFaults(spread(faults, 5))).toEqual([]);
}, 300_000);
