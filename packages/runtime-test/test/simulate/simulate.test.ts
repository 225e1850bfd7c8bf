import { describe, expect, it } from "vitest";
import {
  type Fault,
  noFaults,
  type Script,
  simulate,
  SimulationError,
  type Simulation,
} from "../../src/simulate/index.ts";
import { reply, toolCalls, type ToolCallScript } from "../../src/models/index.ts";
import { runs, spread } from "../laws/runs.ts";
import { otherStore } from "./other-store.ts";

/** Tools have seeded durations of their own; the user waits, or acts when nothing else does. */
const orderly: Script = {
  reply: ({ turn, step }) =>
    step > 1 || turn === 2
      ? reply(`The answer of ${turn}.${step}.`, { delayMs: 40 })
      : toolCalls([call("lookup"), call("pay"), call("guess"), call("note"), call("search")], { delayMs: 3 }),
  actions: [
    { type: "ask", input: "One." },
    { type: "settle" },
    { type: "ask", input: "Two." },
    { type: "cancel", afterMs: 20 },
    {
      type: "send",
      event: { type: "message.appended", message: { role: "user", content: "By the way." } },
      afterMs: 5,
    },
    { type: "ask", input: "Three.", limits: { steps: 1 } },
    { type: "settle" },
    { type: "ask", again: 0, input: "One." },
  ],
};

const call = (name: string): ToolCallScript => ({ name, arguments: { about: name }, id: "the same" });

const simulated = async (from: number, count: number): Promise<readonly Simulation[]> => {
  const simulations: Simulation[] = [];
  for (let seed = from; seed < from + count; seed++) simulations.push(await simulate({ seed }));
  return simulations;
};

describe("simulate", () => {
  it("breaks no law", async () => {
    await simulated(1, runs(400));
  });

  it("gives the same trace and the same journal for the same seed", async () => {
    for (const seed of spread([3, 14, 15, 92, 65], 2)) {
      const [first, second] = [await simulate({ seed }), await simulate({ seed })];
      expect(second.trace).toEqual(first.trace);
      expect(second.journal).toEqual(first.journal);
      expect(second.counts).toEqual(first.counts);
    }
  });

  it("gives another conversation for another seed", async () => {
    const simulations = await simulated(1, Math.max(4, runs(20)));
    expect(new Set(simulations.map(({ trace }) => trace.join("\n"))).size).toBe(simulations.length);
  });

  it("R4: gives the same journal on another store, where the script fixes the order of what happens at once", async () => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const here = await simulate({ seed, script: orderly, faults: "none" });
      const there = await simulate({ seed, script: orderly, faults: "none", createStore: otherStore });
      expect(there.journal).toEqual(here.journal);
    }
  });

  it("breaks no law on another store either", async () => {
    for (let seed = 1; seed <= runs(100); seed++) await simulate({ seed, createStore: otherStore });
  });

  it("has no faults where there are to be none", async () => {
    for (const faults of ["none", noFaults] as const) {
      for (let seed = 1; seed <= runs(80); seed++) {
        const { counts } = await simulate({ seed, faults });
        expect(counts.faults).toEqual({});
        expect(counts.processes).toBe(1);
      }
    }
  });

  it("has the faults that are asked for, and keeps the others as they are", async () => {
    const { counts } = await simulate({ seed: 5, faults: { ...noFaults, llmFails: 1 } });
    expect(Object.keys(counts.faults)).toEqual(["llmFails"]);
    const { counts: more } = await simulate({ seed: 5, faults: { appendSlow: 1 } });
    expect(more.faults.appendSlow).toBeGreaterThan(5);
  });

  it("dies at the steps that are named", async () => {
    const { counts, trace } = await simulate({ seed: 8, faults: "none", crashAt: [9, 20] });
    expect(counts.faults).toEqual({ crash: 2 });
    expect(counts.processes).toBe(3);
    expect(trace.filter((line) => line.includes(" dies "))).toHaveLength(2);
  });

  it.each([
    [{ seed: -1 }, "the seed is -1"],
    [{ seed: 0.5 }, "the seed is 0.5"],
    [{ seed: 1, faults: { crash: 2 } }, 'the fault "crash" has the probability 2'],
    // An unknown fault does not compile, but JavaScript may pass it.
    [{ seed: 1, faults: { crsh: 0.1 } as Partial<Record<Fault, number>> }, 'there is no fault "crsh"'],
  ])("refuses invalid options: %j", async (options, problem) => {
    await expect(simulate(options)).rejects.toThrow(new RegExp(`^${problem}`, "u"));
  });
});

it("SimulationError says the law, the seed, the step, what happened last, and how to see it again", () => {
  const trace = Array.from({ length: 40 }, (_, line) => `line ${line}`);
  const error = new SimulationError("R1", "it was early", 42, 7, trace);
  expect(error.message).toMatch(/^law R1 is broken: it was early\nseed 42, step 7\. /u);
  expect(error.message.match(/^line /gmu)).toHaveLength(30);
  expect(error.message).toContain("\nline 39\n");
  expect(error.message).toContain("pnpm simulate --runs 1 --seed 42");
  expect(error).toMatchObject({ law: "R1", seed: 42, step: 7, trace });
});
