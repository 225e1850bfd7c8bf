import { describe, expect, it } from "vitest";

import { measurements } from "../bench/scale/main.ts";
import { restateProgram } from "../proof/servers/restate-package.ts";
import { spread } from "./runs.ts";

const hasPostgres = (process.env["COLLOQUY_POSTGRES_URL"] ?? "") !== "";

// These take long: processes that ask for seconds, and an engine's servers that restart many times.
const measured = [
  "sqlite",
  "journal",
  ...(hasPostgres ? ["postgres", "asks"] : []),
  ...(restateProgram() === null ? [] : ["engine"]),
];

/** Runs a measurement at a small scale. */
const measuresLittle = async (name: string): Promise<void> => {
  let count = 0;
  for await (const { costs } of measurements[name]?.(small) ?? []) {
    // The time of failed work is infinite.
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
  // The engine's servers restart many times, which takes a minute on an idle machine.
  it.each(spread(measured, 2))("measures %s", { timeout: 300_000 }, measuresLittle);
});
