import { expect, test } from "vitest";

import { faults } from "../../../proof/vectors/fault-list.ts";
import { uncaughtFaults } from "../../../proof/vectors/faults.ts";

test("each of twenty faults of the machine is caught by a vector", async () => {
  expect(new Set(faults.map((fault) => fault.join("\n"))).size).toBe(20);
  expect(await uncaughtFaults(faults.length)).toEqual([]);
}, 300_000);
