import {
  digestOf,
  keepAll,
  lastTurns,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  type Unit,
} from "@colloquy/machine";
import fc from "fast-check";

/** What a policy in JavaScript may answer, which our types do not bind. */
const nonsense: readonly unknown[] = [
  undefined,
  null,
  "keep",
  {},
  { from: { turn: -1, unit: 0 }, reason: "" },
  { from: { turn: 1.5, unit: Number.NaN }, reason: "" },
  { from: { turn: 1n, unit: 0 }, reason: "" },
  { from: null, dropped: "1.1", reason: "" },
  { from: null, dropped: [1, null], reason: "" },
];

/** Policies of ours, and hostile ones. */
export const policyArbitrary: fc.Arbitrary<Policy> = fc.oneof(
  fc.constant(keepAll()),
  fc.nat({ max: 3 }).map(lastTurns),
  { weight: 2, arbitrary: fc.nat({ max: 1_000 }).map(whimsical) },
  fc.constantFrom(...hostilePolicies()),
);

/** A policy that decides at random, yet always the same of the same thread: it cuts anywhere, and drops any unit. */
export function whimsical(seed: number): Policy {
  return policyNamed("whimsical", { seed }, (input) => {
    const units = [...input.history.newestFirst()].flatMap((turn) => turn.units());
    const fixed = input.history.fixed();
    const draw = (about: string): number => Number.parseInt(digestOf(`${seed} ${about}`).slice(-4), 36);
    const first = units[draw(`from ${units.length}`) % (units.length + 1)];
    return {
      from: first === undefined ? null : { turn: first.turn, unit: first.position },
      // It also tries to drop what is not its to drop.
      dropped: [...units, ...fixed].filter(({ id }) => draw(`drop ${id}`) % 3 === 0).map(({ id }) => id),
      reason: "it felt like it",
    };
  });
}

/** Policies that break their promise, each in its own way: by throwing, or by deciding what can't be meant. */
export function hostilePolicies(): readonly Policy[] {
  return [
    policyNamed("throws", {}, () => {
      throw new Error("no decision today");
    }),
    policyNamed("throws-a-text", {}, () => {
      // oxlint-disable-next-line typescript/only-throw-error -- a policy may be anybody's code
      throw "a text";
    }),
    policyNamed("throws-nothing-printable", {}, () => {
      // oxlint-disable-next-line typescript/only-throw-error -- as above; this one can't even be made a string
      throw Object.create(null);
    }),
    policyNamed("throws-late", {}, ({ history }) => {
      for (const turn of history.newestFirst()) for (const unit of turn.units()) throw new Error(`at ${unit.id}`);
      return { from: null, reason: "an empty thread" };
    }),
    ...nonsense.map((decision, index) =>
      // The types say that it can't be; that is the point.
      policyNamed(`nonsense-${index}`, {}, () => decision as PolicyDecision),
    ),
    policyNamed("drops-the-first-of-each-turn", {}, ({ history }) => ({
      from: null,
      dropped: [...history.newestFirst()].flatMap((turn) => firstId(turn.units())),
      reason: "beginnings bore it",
    })),
    policyNamed("beyond-the-end", {}, () => ({
      from: { turn: Number.MAX_SAFE_INTEGER, unit: 9 },
      reason: "nothing is shown",
    })),
    policyNamed("mid-turn", {}, ({ history }) => {
      const newest = [...history.newestFirst()][0];
      return { from: newest === undefined ? null : { turn: newest.number, unit: 1 }, reason: "all but its beginning" };
    }),
  ];
}

function policyNamed(
  name: string,
  options: { readonly seed?: number },
  decide: (input: PolicyInput) => PolicyDecision,
): Policy {
  return { name, version: 1, options, monotone: false, stable: false, decide };
}

function firstId(units: readonly Unit[]): readonly string[] {
  return units.slice(0, 1).map(({ id }) => id);
}
