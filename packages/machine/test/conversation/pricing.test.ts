import { describe, expect, test } from "vitest";
import { ConfigurationError, conversationMachine, type Cost, lastTurnOf, type Pricing } from "../../src/index.ts";
import { pricesPerMillion } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { rolling } from "../hand-made.ts";
import { Talk } from "../talk.ts";

const priced = (price: Pricing["price"]) => {
  const talk = new Talk(conversationMachine({ pricing: { name: "p", version: 1, options: {}, price } }));
  talk.ask("?");
  const told = talk.reply("!", { usage: { totalTokens: 3 }, model: "large" });
  return { cost: told.entry.decided?.cost, usage: lastTurnOf(talk.state)?.usage };
};

describe("pricing", () => {
  test("is by the model that wrote it for a summary, too", () => {
    const price: Pricing["price"] = ({ totalTokens = 0 }, model) => ({ nano: totalTokens, currency: model ?? "none" });
    const pricing = { name: "p", version: 1, options: {}, price };
    const talk = new CheckedTalk({ pricing, policy: rolling({ keep: 0 }) });
    talk.say("One", "1");
    const { entry } = talk.summarise("S1", { usage: { totalTokens: 3 }, model: "small" });
    expect(entry.decided?.cost).toEqual({ nano: 3, currency: "small" });
  });

  // A price list in JavaScript may return anything.
  const nonsense = [
    { nano: Number.NaN, currency: "USD" },
    { nano: 0.5, currency: "USD" },
    { nano: -1, currency: "USD" },
    { nano: 1 },
  ] as const;

  const lists: readonly (readonly [string, Pricing["price"]])[] = [
    [
      "throws",
      (): null => {
        throw new Error("no price today");
      },
    ],
    ["knows no price", (): null => null],
    ...nonsense.map((price) => [`says ${JSON.stringify(price)}`, (): Cost => price as Cost] as const),
  ];

  test.each(lists)("a list that %s prices nothing, and the call counts as unpriced", (_, price) => {
    const { cost, usage } = priced(price);
    expect(cost).toBeUndefined();
    expect(usage).toMatchObject({ calls: 1, unpriced: 1, cost: {} });
  });
});

describe("prices by the million", () => {
  test.each<readonly [unknown, RegExp]>([
    [null, /^the prices are null; they must be an object/],
    ["free", /^the prices are "free"; they must be an object/],
    [{ large: null }, /^the price of "large" is null; it needs input and output/],
    [{ large: 5 }, /^the price of "large" is 5; it needs input and output/],
    [{ large: { input: 1 } }, /^the price of "large" has output undefined/],
    [{ large: { input: "1", output: 1 } }, /^the price of "large" has input "1"/],
    [{ large: { input: 1, output: Number.NaN } }, /^the price of "large" has output NaN/],
    [{ large: { input: 1, output: -1 } }, /^the price of "large" has output -1/],
  ])("of %j are refused", (models, message) => {
    // Only JavaScript may pass these prices.
    const make = () => pricesPerMillion("USD", models as Parameters<typeof pricesPerMillion>[1]);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });

  test("may be zero, and nothing is written to a cache if the provider reports nothing of it", () => {
    const prices = pricesPerMillion("USD", {
      free: { input: 0, output: 0 },
      large: { input: 1, output: 2, cacheWrite: 8 },
    });
    const usage = { inputTokens: 10, outputTokens: 5 };
    expect(prices.price(usage, "free")).toEqual({ nano: 0, currency: "USD" });
    expect(prices.price(usage, "large")).toEqual({ nano: 20_000, currency: "USD" });
    expect(prices.price({ ...usage, cacheWriteTokens: 4 }, "large")).toEqual({ nano: 48_000, currency: "USD" });
  });
});
