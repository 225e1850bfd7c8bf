import type { HostedThread } from "@colloquy/host";
import { virtualClock } from "@colloquy/runtime-test";
import { expect, test, vi } from "vitest";
import { Leg } from "../../src/responses/leg.ts";
import { RunningTurns } from "../../src/responses/running-turns.ts";
import type { TurnOutput } from "../../src/responses/turn-output.ts";

test("a delta looks at other responses only if all together do not fit, and then no longer than needed", () => {
  const turns = new RunningTurns(virtualClock(), { keepMs: 1000, charactersMax: 50_000 });
  let looks = 0;
  const kept = Array.from({ length: 10 }, (_, turn) => {
    const leg = new Leg({ place: { threadId: "t", turn, leg: 0 }, echo: {}, createdAt: 0 });
    const watch: TurnOutput["watch"] = (watcher) => watcher.begun(leg, 0);
    const output = { turn: { turn }, knownThrough: 0, watch } as unknown as TurnOutput; // only these are read
    turns.add({ id: "t" } as HostedThread, "ask", output);
    Object.defineProperty(leg.log, "isEnded", { get: () => ++looks > 0 });
    return leg;
  });
  const add = (delta: string): void => kept.at(-1)?.log.add({ type: "response.output_text.delta", delta });
  const walks = vi.spyOn(Map.prototype, "values");
  for (let count = 0; count < 50; count++) add("Hi");
  expect([walks.mock.calls.length, looks]).toEqual([0, 0]);
  walks.mockRestore();
  for (let count = 0; count < 1000 && looks === 0; count++) add("Hi");
  expect(looks).toBe(1);
  expect(kept.map(({ log }) => log.hasFrom(0)).indexOf(true)).toBe(1);
});
