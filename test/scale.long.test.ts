import { describe, expect, it } from "vitest";

import { measurements } from "../bench/scale/main.ts";
import { restateProgram } from "../proof/servers/restate-package.ts";

const hasPostgres = (process.env["COLLOQUY_POSTGRES_URL"] ?? "") !== "";

// Processes that ask for seconds, servers of an engine that are started again and again.
const measured = [
  "sqlite",
  "journal",
  ...(hasPostgres ? ["postgres", "asks"] : []),
  ...(restateProgram() === null ? [] : ["engine"]),
];

/** Measures little of what is named so. */
const measuresLittle = async (name: string): Promise<void> => {
  let count = 0;
  for await (const { costs } of measurements[name]?.(small) ?? []) {
    // Failed work takes for ever.
    for (const { name: what, value } of costs) expect([what, Number.isFinite(value)]).toEqual([what, true]);
    count += costs.length;
  }
  expect(count).toBeGreaterThan(1);
};

const small = {
  threads: [1_000],
  entries: [1_100],
  processes: [1],
  seconds: 1,
  outstanding: 8,
  lanes: [2],
  resting: [20],
  woken: [40],
  wakings: 2,
};

describe("pnpm scale, on little", () => {
  it.each(measured)("measures %s", measuresLittle);
});
