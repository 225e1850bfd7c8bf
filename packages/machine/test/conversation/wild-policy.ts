import fc from "fast-check";
import type { HistoryTurn, Policy, PolicyDecision, PolicyInput, Shrink, Unit } from "../../src/policies.ts";

/** Draws policies that use all of a decision: cuts, drops, summaries, shrinking, fields, the system message. */
export const wildPolicyArbitrary: fc.Arbitrary<Policy> = fc
  .record({
    from: fc.option(fc.nat({ max: 12 })),
    drop: fc.integer({ min: 2, max: 5 }),
    summarised: fc.boolean(),
    shrink: fc.subarray<Shrink["rule"]>(["clear", "headAndTail", "reference"]),
    before: fc.nat({ max: 12 }),
    omit: fc.option(fc.constantFrom("question", "context", "documents", "a")),
    inputs: fc.option(fc.subarray(["question", "context", "a"])),
    system: fc.boolean(),
  })
  .map((choices) => wildPolicy(choices));

interface Choices {
  readonly from: number | null;
  readonly drop: number;
  readonly summarised: boolean;
  readonly shrink: readonly Shrink["rule"][];
  readonly before: number;
  readonly omit: string | null;
  readonly inputs: readonly string[] | null;
  readonly system: boolean;
}

const wildPolicy = (choices: Choices): Policy => ({
  name: "wild",
  version: 1,
  options: { ...choices },
  monotone: false,
  stable: false,
  decide: (input) => decide(choices, input),
  summariser: {
    instruction: "Sum up.",
    model: {},
    maxTokens: 1_000,
    next: ({ history }) => {
      const turns = [...history.newestFirst()].filter(({ number }) => number > 0);
      const [newest, oldest] = [turns.at(choices.drop % 2), turns.at(-1)];
      if (newest === undefined || oldest === undefined || newest.summaries.length > 0) return null;
      return { covers: { from: oldest.number, to: newest.number }, earlier: null };
    },
  },
});

const decide = (choices: Choices, { history }: PolicyInput): PolicyDecision => {
  const turns = [...history.newestFirst()];
  const units = turns.flatMap((turn) => turn.units());
  const from = choices.from === null ? undefined : units[choices.from];
  const before = positionOf(units[choices.before]) ?? { turn: 0, unit: 0 };
  const older = turns.filter(({ number }) => from !== undefined && number < from.turn);
  return {
    from: positionOf(from) ?? null,
    dropped: units.filter((_, index) => index % choices.drop === 1).map(({ id }) => id),
    ...summarised(choices, older),
    shrink: choices.shrink.map((rule) => ({
      rule,
      of: rule === "headAndTail" ? "messages" : "toolResults",
      characters: 200,
      ...(rule === "clear" || choices.before % 2 === 0 ? { before } : {}),
    })),
    fields: {
      ...(choices.omit === null ? {} : { omit: [choices.omit] }),
      ...(choices.inputs === null ? {} : { inputs: choices.inputs }),
    },
    ...(choices.system ? { system: "omit" as const } : {}),
    reason: "wild",
    reasons: Object.fromEntries(units.map(({ id }) => [id, `wild about ${id}`])),
  };
};

const summarised = (choices: Choices, older: readonly HistoryTurn[]): Pick<PolicyDecision, "summarised"> => {
  const [newest, oldest] = [older[0], older.at(-1)];
  if (!choices.summarised || newest === undefined || oldest === undefined) return {};
  return { summarised: { from: oldest.number, to: newest.number } };
};

const positionOf = (unit: Unit | undefined) =>
  unit === undefined ? undefined : { turn: unit.turn, unit: unit.position };
