import { pricesPerMillion, readCost } from "@colloquy/machine";
import type { LlmOutcome } from "@colloquy/host";
import { expect, it } from "vitest";
import { entriesOf, says, stage } from "../stage.ts";

const pricing = pricesPerMillion("USD", { m: { input: 1, output: 10 } });
const failed = (kind: "rate_limit" | "overloaded" | "network", more: object = {}): LlmOutcome => ({
  type: "failed",
  failure: { kind, message: "no", retryable: true },
  ...more,
});

it("a refused call costs nothing, and is neither unreported nor unpriced", async () => {
  const { host, clock, store } = stage({
    script: [failed("rate_limit"), failed("overloaded"), says("Hello.")],
    machine: { pricing, model: { model: "m" } },
  });
  const asked = host.thread("t").ask("hi");
  await clock.advance(60_000);
  const { usage } = await asked;
  expect(usage).toMatchObject({ calls: 3, unpriced: 0, inputTokens: { sum: 10, reported: 3, unreported: 0 } });
  expect(readCost(usage).text).toBe("0.00003 USD");
  const entries = await entriesOf(store, "t");
  expect(entries.flatMap((entry) => ("decided" in entry ? (entry.decided?.cost?.nano ?? []) : []))).toEqual([
    0, 0, 30_000,
  ]);
});

it.each([
  ["of which something had come", failed("rate_limit", { partial: { content: "Hel" } })],
  ["that failed in another way", failed("network")],
])("a call %s costs what nobody knows", async (_, outcome) => {
  const { host, clock } = stage({ script: [outcome, says("Hello.")], machine: { pricing, model: { model: "m" } } });
  const asked = host.thread("t").ask("hi");
  await clock.advance(60_000);
  expect(readCost((await asked).usage).text).toBe("0.00003 USD, unknown for 1 of 2 calls");
});
