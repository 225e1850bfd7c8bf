import {
  clearResults,
  compose,
  fitOversized,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  tokenWindow,
} from "@colloquy/machine/policies";
import type { Move, Schedule } from "@colloquy/runtime-test/arbitraries";
import { policyLaws, runPolicy } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";
import { spread } from "../runs.ts";

/** Every kind of claim, under every option that affects it. */
const policies: readonly Policy[] = [
  lastTurns(2),
  lastTurns(1, { slack: 2 }),
  lastMessages({ max: 5, keepRecent: 5 }),
  lastMessages({ max: 5, keepRecent: 5, keepSystem: false }),
  lastMessages({ max: 12, keepRecent: 3 }),
  lastMessages({ max: 12, keepRecent: 3, keepSystem: false }),
  tokenWindow(),
  tokenWindow({ cutTo: 0.5 }),
  tokenWindow({ tokens: 400 }),
  tokenWindow({ reserve: 30 }),
  clearResults({ keep: 1 }),
  clearResults({ keep: 1, slack: 2 }),
  clearResults({ keep: 1, when: "always" }),
  clearResults({ keep: 1, slack: 2, when: "always" }),
  limitResults({ characters: 200 }),
  fitOversized(),
  omitFields(["mood"]),
  onlyInputs([]),
];

const turn = (index: number): Move => ({
  afterMs: 1,
  move: "addTurn",
  messages: [
    {
      role: "user",
      content: index % 3 === 0 ? [{ type: "data", field: "mood", value: "glad" }] : `Question ${index}?`,
    },
    { role: "assistant", content: "", toolCalls: [{ id: null, name: "search", arguments: "{}" }] },
    { role: "tool", toolCallId: null, content: `Result ${index}. `.repeat(30) },
    { role: "assistant", content: `Answer ${index}.` },
  ],
});

const schedule: Schedule = {
  input: { threadId: "t", at: 0, system: "You answer questions, and you do so at some length." },
  moves: [...Array.from({ length: 8 }, (_, index) => turn(index)), { afterMs: 1, move: "ask", input: "And now?" }],
};

test.each(spread(policies, 6).map((policy) => [`${policy.name} ${JSON.stringify(policy.options)}`, policy] as const))(
  "%s keeps its claims alone, and before any other",
  (_, policy) => {
    const shares = [0.1, 0.2, 0.3, 0.5, 0.7];
    const broken = [policy, ...spread(policies).map((other) => compose(policy, other))].flatMap((each) => {
      const run = runPolicy({ policy: each }, schedule, { shares, states: 2 });
      return [policyLaws.P6, policyLaws.P9, policyLaws.P11].flatMap((law) => problemOf(each, () => law(run)));
    });
    expect(broken).toEqual([]);
  },
);

const problemOf = ({ options }: Policy, run: () => void): readonly string[] => {
  try {
    run();
    return [];
  } catch (thrown) {
    return [`${String(thrown)}: ${JSON.stringify(options)}`];
  }
};
