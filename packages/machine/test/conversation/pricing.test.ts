import { describe, expect, test } from "vitest";
import { conversationMachine, type Cost, lastTurnOf, type Pricing } from "../../src/index.ts";
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
