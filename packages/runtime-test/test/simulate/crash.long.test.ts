import { declarationsOf, tool, type Tool } from "@colloquy/host";
import { compactTurns } from "@colloquy/machine/policies";
import { type Entry, type ToolRecovery, turnNumbered } from "@colloquy/machine";
import { describe, expect, it } from "vitest";
import { lawRecovery } from "../../src/laws/index.ts";
import { reply, toolCalls } from "../../src/models/index.ts";
import { type Script, simulate, type Simulation } from "../../src/simulate/index.ts";
import { spread } from "../../../../test/runs.ts";

/** Makes a tool that records its runs. */
const written = (recovery: ToolRecovery, ran: string[]): Tool =>
  tool({
    name: "act",
    description: "Acts.",
    input: { jsonSchema: { type: "object" } },
    recovery,
    run: (_, { idempotencyKey }) => {
      ran.push(idempotencyKey);
      return `done: ${idempotencyKey}`;
    },
  });

/** Returns two turns, the first with a round of two calls. The model's reply depends only on the call. */
const scriptWith = (tools: readonly Tool[]): Script => ({
  tools,
  reply: ({ turn, step }) =>
    turn === 1 && step === 1
      ? toolCalls([
          { name: "act", arguments: { first: true } },
          { name: "act", arguments: { first: false } },
        ])
      : reply(`Answer ${turn}.${step}.`, { delayMs: 5 }),
  actions: [
    { type: "ask", input: "Act." },
    { type: "settle", withinMs: 10_000 },
    { type: "ask", input: "And now?" },
  ],
});

const crashed = async (
  recovery: ToolRecovery,
  crashAt: readonly number[],
): Promise<{ readonly simulation: Simulation; readonly ran: readonly string[]; readonly tools: readonly Tool[] }> => {
  const ran: string[] = [];
  const tools = [written(recovery, ran)];
  const simulation = await simulate({ seed: 1, script: scriptWith(tools), faults: "none", crashAt });
  return { simulation, ran, tools };
};

const outcomes = (journal: readonly Entry[]): readonly string[] =>
  journal.flatMap(({ event }) =>
    event.type === "tool.failed"
      ? [event.outcome]
      : event.type === "tool.completed"
        ? ["completed"]
        : event.type === "tool.withheld"
          ? ["withheld"]
          : [],
  );

const stepsOf = ({ counts }: Simulation): readonly number[] =>
  Array.from({ length: counts.steps }, (_, index) => index + 1);

describe.each(["rerun", "interrupted", "once", "ask"] as const)(
  "R2: a crash at any step, with a tool of recovery %s",
  (recovery) => {
    it("leaves the journal as it would have been, but for what the table says", async () => {
      const { simulation: uncrashed } = await crashed(recovery, []);
      const seen = new Set<string>();
      expect(uncrashed.counts.steps).toBeGreaterThan(30);
      for (const step of spread(stepsOf(uncrashed), 10)) {
        const { simulation, ran, tools } = await crashed(recovery, [step]);
        expect(simulation.counts.processes).toBe(2);
        for (const outcome of outcomes(simulation.journal)) seen.add(outcome);
        lawRecovery({ uncrashed: uncrashed.journal, resumed: simulation.journal, tools: declarationsOf(tools), ran });
      }
      const lost = { rerun: [], interrupted: ["interrupted"], once: ["unknown"], ask: ["withheld"] }[recovery];
      expect([...seen].sort()).toEqual(["completed", ...lost]);
    });

    it("does so also when the next process dies as well", async () => {
      const { simulation: uncrashed } = await crashed(recovery, []);
      for (const crashAt of spread(
        stepsOf(uncrashed).flatMap((step) => [1, 2, 4, 7, 11].map((after) => [step, step + after])),
      )) {
        const { simulation, ran, tools } = await crashed(recovery, crashAt);
        lawRecovery({ uncrashed: uncrashed.journal, resumed: simulation.journal, tools: declarationsOf(tools), ran });
      }
    });
  },
);

describe("a crash at any step, while summaries are written", () => {
  const script: Script = {
    machine: { policy: compactTurns({ keepTurns: 0, at: 0 }), budget: { tokens: 2_000, reserve: 0 } },
    reply: ({ purpose, id }) => reply(`${purpose} of ${id}`, { delayMs: 20 }),
    actions: [
      { type: "ask", input: "One." },
      { type: "settle", withinMs: 10_000 },
      { type: "ask", input: "Two.", afterMs: 10 },
      { type: "settle", withinMs: 10_000 },
    ],
  };

  it("costs no answer, and no summary", async () => {
    for (const step of spread(stepsOf(await simulate({ seed: 1, script, faults: "none" })), 8)) {
      const { state } = await simulate({ seed: 1, script, faults: "none", crashAt: [step] });
      const summaries = [1, 2, 3].flatMap((number) => turnNumbered(state, number)?.summaries ?? []);
      expect(summaries.map(({ text }) => text)).toContain("summary of simulated/summary-1#1");
      expect(summaries.at(-1)?.from).toBe(1);
      // A summary that is still outstanding at the end leads to one more ask.
      expect([3, 4]).toContain(state.context.conversation.turns.length);
    }
  });
});
