import { expect, test } from "vitest";
import { conversationMachine } from "../../src/index.ts";
import { explain } from "../../src/inspect.ts";
import { keepAll, type PolicyDecision } from "../../src/policies.ts";
import { Talk } from "../talk.ts";

const unreadable = new Proxy(() => undefined, {
  get: () => {
    throw new Error("no reason");
  },
});

const throwing = new Proxy<Record<string, string>>(
  {},
  {
    getOwnPropertyDescriptor: () => {
      throw new Error("no reason");
    },
  },
);

test.each<readonly [string, unknown]>([
  ["null", null],
  ["a text", "dull"],
  ["reasons for other units", { "1.0": "dull" }],
  ["a reason that is not a text", { "1.1": 1 }],
  ["reasons that only a prototype has", Object.create({ "1.1": "dull" })],
  ["reasons whose members can't be described", throwing],
  ["reasons that can't be read", unreadable],
])("an explanation gives the decision's own reason for a unit for which the policy gives %s", (_, reasons) => {
  // Only JavaScript may give most of these.
  const decide = () => ({ from: null, dropped: ["1.1"], reason: "because", reasons }) as PolicyDecision;
  const talk = new Talk(conversationMachine({ policy: { ...keepAll(), name: "own", decide } }));
  talk.ask("One?");
  talk.reply("One.");
  const unit = explain(talk.machine, talk.state).units.find(({ id }) => id === "1.1");
  expect(unit).toMatchObject({ shown: "out", rule: "dropped", why: "because" });
});
