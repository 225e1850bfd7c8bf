// Measures telemetry: an observed turn against an unobserved one, and the spans of a journal of twice the length.
import type { Observer } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { spansOf } from "@colloquy/host/telemetry";
import { telemetryObserver } from "@colloquy/host/telemetry/live";
import { byTurns, type Figure, figureOf, pair, short } from "./kit/measure.ts";
import { benchmarkHost } from "./kit/hosts.ts";
import { userText } from "./kit/script.ts";
import { lookupMachine } from "./kit/work.ts";

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
    figureOf("turns with a tool, observed by telemetry / not observed", observed, 2, "a turn"),
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
  const host = benchmarkHost({ machine: lookupMachine({ policy: lastTurns(2) }), observers });
  for (let turn = 1; turn <= count; turn++) await host.ask(userText(turn));
  const journal = await host.thread().exportJournal();
  await host.close();
  return journal;
};
