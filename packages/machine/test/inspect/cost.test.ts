import {
  conversationMachine,
  noUsage,
  outstanding,
  start,
  transition,
  usageMonoid,
  usageOfCall,
  usedNothing,
} from "@colloquy/machine";
import { readCost } from "@colloquy/machine/inspect";
import { pricesPerMillion } from "@colloquy/machine/policies";
import { describe, expect, it } from "vitest";

const prices = pricesPerMillion("USD", {
  "gpt-5.4": { input: 1.25, output: 10, cachedInput: 0.125 },
  local: { input: 0, output: 0 },
});
const call = (inputTokens: number, outputTokens: number, model: string | null = "gpt-5.4") =>
  usageOfCall({ inputTokens, outputTokens }, prices.price({ inputTokens, outputTokens }, model));

describe("prices per million", () => {
  it.each([
    { model: "gpt-5.4", usage: { inputTokens: 1_000_000, outputTokens: 0 }, nano: 1_250_000_000 },
    { model: "gpt-5.4", usage: { inputTokens: 1000, outputTokens: 100 }, nano: 1_250_000 + 1_000_000 },
    { model: "gpt-5.4", usage: { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 800 }, nano: 250_000 + 100_000 },
    { model: "gpt-5.4", usage: { inputTokens: 1000, outputTokens: 0, cacheWriteTokens: 500 }, nano: 1_250_000 },
    { model: "gpt-5.4-2026-03-05", usage: { inputTokens: 1, outputTokens: 1 }, nano: 1250 + 10_000 },
    { model: "gpt-5.4@20260305", usage: { inputTokens: 1, outputTokens: 1 }, nano: 1250 + 10_000 },
    { model: "local", usage: { inputTokens: 5, outputTokens: 5 }, nano: 0 },
    { model: "gpt-5.4", usage: usedNothing, nano: 0 },
  ])("$model: $usage", ({ model, usage, nano }) => {
    expect(prices.price(usage, model)).toEqual({ nano, currency: "USD" });
  });

  it.each([
    { model: "gpt-5.4-mini", usage: { inputTokens: 1, outputTokens: 1 } },
    { model: "toString", usage: { inputTokens: 1, outputTokens: 1 } },
    { model: null, usage: { inputTokens: 1, outputTokens: 1 } },
    { model: "gpt-5.4", usage: { inputTokens: 1 } },
  ])("has none for $model with $usage", ({ model, usage }) => {
    expect(prices.price(usage, model)).toBeNull();
  });

  it("are checked", () => {
    expect(() => pricesPerMillion("USD", { m: { input: -1, output: 1 } })).toThrow(
      'the price of "m" has input -1; it must be a number of 0 or more: what a million tokens cost',
    );
    expect(() => pricesPerMillion("", {})).toThrow("the currency of the prices is");
    // JavaScript may pass this.
    expect(() => pricesPerMillion("USD", { m: { input: 1, output: 1, cached: 1 } as never })).toThrow("cached");
    expect(() => pricesPerMillion("USD", { m: { input: 1 } as never })).toThrow("has output undefined");
  });

  it("are those of the requested model if the answering one has no price", () => {
    for (const [model, sum] of [
      [undefined, 11_250],
      ["deployment-7", 11_250],
      ["local", 0],
    ] as const) {
      const machine = conversationMachine({ pricing: prices, model: { model: "gpt-5.4" } });
      const { state } = start(machine, { threadId: "t", at: 0 });
      const asked = transition(machine, state, { type: "ask.received", at: 1, askId: "a", input: "hi" });
      const [effect] = outstanding(asked.state);
      const ended = transition(machine, asked.state, {
        type: "llm.completed",
        at: 2,
        effectId: effect?.id ?? "",
        reply: { content: "." },
        finishReason: "stop",
        usage: { inputTokens: 1, outputTokens: 1 },
        ...(model === undefined ? {} : { model }),
      });
      expect(ended.state.context.usage.total.cost["USD"]?.sum).toBe(sum);
    }
  });
});

describe("a cost is read without arithmetic", () => {
  it.each([
    { what: "no call at all", cost: noUsage, text: "nothing" },
    { what: "a call", cost: { nano: 12_300_000, currency: "USD" }, text: "0.0123 USD" },
    { what: "a call without a price", cost: undefined, text: "unknown" },
    { what: "a turn", cost: [call(1000, 100), call(1, 1)].reduce(usageMonoid.concat), text: "0.00226125 USD" },
    { what: "whole units", cost: call(1_000_000, 1_000_000), text: "11.25 USD" },
    { what: "a thousand units", cost: { nano: 1_234_000_000_000, currency: "EUR" }, text: "1234.00 EUR" },
    { what: "one of unknown", cost: call(1, 1, "other"), text: "unknown" },
    {
      what: "some unknown",
      cost: [call(1000, 100), call(1, 1, "other"), call(1, 1, null)].reduce(usageMonoid.concat),
      text: "0.00225 USD, unknown for 2 of 3 calls",
    },
    {
      what: "two currencies",
      cost: usageMonoid.concat(call(1000, 0), usageOfCall(null, { nano: 5, currency: "EUR" })),
      text: "0.00125 USD + 0.000000005 EUR",
    },
    { what: "a refused call", cost: usageOfCall(usedNothing, null), text: "nothing" },
  ])("$what: $text", ({ cost, text }) => {
    expect(readCost(cost).text).toBe(text);
  });

  it("as amounts, too", () => {
    expect(readCost({ nano: 12_300_000, currency: "USD" })).toEqual({
      amounts: [{ currency: "USD", amount: 0.0123, calls: 1 }],
      unknownCalls: 0,
      text: "0.0123 USD",
    });
    expect(readCost(undefined)).toEqual({ amounts: [], unknownCalls: 1, text: "unknown" });
    expect(readCost(usageMonoid.concat(call(1000, 100), call(1, 1, "other")))).toEqual({
      amounts: [{ currency: "USD", amount: 0.00225, calls: 1 }],
      unknownCalls: 1,
      text: "0.00225 USD, unknown for 1 of 2 calls",
    });
  });

  it("and what used nothing is not unpriced, while zero of some field may still be", () => {
    expect(usageOfCall(usedNothing, null)).toMatchObject({
      calls: 1,
      unpriced: 0,
      totalTokens: { reported: 1, sum: 0 },
    });
    expect(usageOfCall({ inputTokens: 0, outputTokens: 0 }, null).unpriced).toBe(1);
    expect(usageOfCall(null, null).unpriced).toBe(1);
  });
});
