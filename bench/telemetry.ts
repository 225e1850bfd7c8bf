// Measures telemetry: an observed turn against an unobserved one, and the spans of a journal of twice the length.
import { createHost, declarationsOf, type LlmHandler, memoryStore, type Observer, tool } from "@colloquy/host";
import { conversationMachine, type Entry } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock } from "@colloquy/runtime-node";
import { spansOf } from "@colloquy/host/telemetry";
import { telemetryObserver } from "@colloquy/host/telemetry/live";
import { byTurns, type Figure, pair, short } from "./kit/measure.ts";
import { answerText, userText } from "./kit/script.ts";

const turns = 200;

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  // No SDK is registered, so this measures only the projection.
  const observed = await pair(
    rounds,
    turns,
    () => journalOf(turns, [telemetryObserver()]),
    () => journalOf(turns, []),
  );
  const [once, twice] = [await journalOf(2_000, []), await journalOf(4_000, [])];
  const grown = await byTurns(
    rounds,
    1,
    () => spansOf(twice),
    () => spansOf(once),
  );
  return [
    {
      name: "turns with a tool, observed by telemetry / not observed",
      value: observed.ratio,
      most: 2,
      note: `${short(observed.ours)} µs a turn against ${short(observed.reference)}`,
    },
    {
      name: "the spans of 4,000 turns / of 2,000",
      value: grown.ratio,
      // Linear work gives 2, quadratic work 4.
      most: 3,
      note: `${short(grown.ours / 1_000)} ms against ${short(grown.reference / 1_000)}`,
    },
  ];
};

const journalOf = async (count: number, observers: readonly Observer[]): Promise<readonly Entry[]> => {
  const host = createHost({
    machine: conversationMachine({ tools: declarationsOf([note]), policy: lastTurns(2) }),
    store: memoryStore({ clock: systemClock }),
    llm: callsOnce,
    tools: [note],
    clock: systemClock,
    ids: randomIds,
    observers,
  });
  for (let turn = 1; turn <= count; turn++) await host.ask(userText(turn));
  const journal = await host.thread().exportJournal();
  await host.close();
  return journal;
};

const note = tool({
  name: "note",
  description: "Notes.",
  input: { jsonSchema: { type: "object" } },
  run: () => "noted",
});

const callsOnce: LlmHandler = async ({ turn, step }) =>
  step === 1
    ? {
        type: "completed",
        reply: { toolCalls: [{ id: "call", name: "note", arguments: "{}" }] },
        finishReason: "tool_calls",
        usage: { inputTokens: 100, outputTokens: 50 },
      }
    : { type: "completed", reply: { content: answerText(turn) }, finishReason: "stop" };
