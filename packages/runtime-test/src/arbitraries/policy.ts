import { digestOf } from "@colloquy/machine";
import type { Policy, PolicyDecision, PolicyInput, Shrink, Unit } from "@colloquy/machine/policies";
import fc from "fast-check";
import { composedPolicyArbitrary, shippedPolicyArbitrary } from "./shipped-policy.ts";

/** Invalid decisions, as a policy written in JavaScript may return. */
const invalidDecisions: readonly (() => unknown)[] = [
  undefined,
  null,
  "keep",
  {},
  { from: { turn: -1, unit: 0 }, reason: "" },
  { from: { turn: 1.5, unit: Number.NaN }, reason: "" },
  { from: { turn: 1n, unit: 0 }, reason: "" },
  { from: null, dropped: "1.1", reason: "" },
  { from: null, dropped: [1, null], reason: "" },
  { from: null, shrink: [{ rule: "clear", of: "messages", characters: 200 }], reason: "" },
  { from: null, shrink: [{ rule: "headAndTail", of: "messages", characters: 0 }], reason: "" },
  { from: null, shrink: { 0: "clear" }, reason: "" },
  { from: null, shrink: [null], reason: "" },
  { from: null, summarised: { from: 0, to: 0 }, reason: "" },
  { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, summarised: { from: 3, to: 1 }, reason: "" },
  { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 }, summarised: { from: 0, to: 99 }, reason: "" },
  { from: { turn: 9_999, unit: 0 }, reason: "" },
  { from: { turn: 0, unit: 99 }, reason: "" },
  { from: null, dropped: ["99.99"], reason: "" },
  { from: null, dropped: ["nobody"], reason: "" },
  {
    from: null,
    shrink: [{ rule: "clear", of: "messages", characters: 200, before: { turn: 1, unit: 99 } }],
    reason: "",
  },
  { from: null, fields: { omit: "a" }, reason: "" },
  { from: null, fields: 7, reason: "" },
  { from: null, system: "shout", reason: "" },
  { from: null, reason: 1n },
].map((decision) => () => decision);

/** Shipped policies, compositions of them, and hostile ones. Each returns the same decision for the same thread. */
export const policyArbitrary: fc.Arbitrary<Policy> = fc.oneof(
  { weight: 4, arbitrary: shippedPolicyArbitrary },
  { weight: 2, arbitrary: composedPolicyArbitrary },
  { weight: 2, arbitrary: fc.nat({ max: 1_000 }).map(whimsical) },
  { weight: 2, arbitrary: fc.nat({ max: 1_000 }).map(wilful) },
  fc.constantFrom(...hostilePolicies()),
);

/** Makes a policy that cuts anywhere and drops any unit, at random but the same for the same thread. */
export function whimsical(seed: number): Policy {
  return policyNamed("whimsical", { seed }, (input) => {
    const units = [...input.history.newestFirst()].flatMap((turn) => turn.units());
    const fixed = input.history.fixed();
    const draw = (about: string): number => Number.parseInt(digestOf(`${seed} ${about}`).slice(-4), 36);
    const first = units[draw(`from ${units.length}`) % (units.length + 1)];
    return {
      from: first === undefined ? null : { turn: first.turn, unit: first.position },
      // It also tries to drop units that a policy must not drop.
      dropped: [...units, ...fixed].filter(({ id }) => draw(`drop ${id}`) % 3 === 0).map(({ id }) => id),
      reason: "it felt like it",
    };
  });
}

/** Makes a policy that decides at random, also beyond the contract, but the same for the same thread. */
export function wilful(seed: number): Policy {
  const drawn = ({ history }: PolicyInput): ((about: string) => number) => {
    const length = [...history.newestFirst()].length + history.fixed().length;
    return (about) => Number.parseInt(digestOf(`${seed} ${length} ${about}`).slice(-4), 36);
  };
  const decide = (input: PolicyInput): PolicyDecision => {
    const draw = drawn(input);
    const whim = whimsical(seed).decide(input);
    const units = [...input.history.newestFirst()].flatMap((turn) => turn.units());
    const unit = units[draw("turn") % Math.max(1, units.length)];
    // Sometimes a position that does not exist.
    const position =
      unit === undefined || draw("unit") % 8 === 0
        ? { turn: draw("turn") % 6, unit: draw("unit") % 4 }
        : { turn: unit.turn, unit: unit.position };
    const rules: readonly Shrink[] = (["clear", "headAndTail", "reference"] as const).flatMap((rule) =>
      draw(rule) % 2 === 0
        ? []
        : {
            rule,
            of: draw(`of ${rule}`) % 2 === 0 ? ("messages" as const) : ("toolResults" as const),
            // Sometimes too short, which is invalid.
            characters: 190 + (draw(`characters ${rule}`) % 300),
            ...(rule === "clear" || draw(`before ${rule}`) % 2 === 0 ? { before: position } : {}),
          },
    );
    const range = { from: draw("first") % 3, to: draw("last") % 4 };
    return {
      from: draw("from") % 3 === 0 ? null : draw("from") % 3 === 1 ? position : whim.from,
      ...(draw("dropping") % 3 === 0 ? { dropped: whim.dropped ?? [] } : {}),
      ...(draw("shrinking") % 2 === 0 ? { shrink: rules } : {}),
      ...(draw("summing up") % 2 === 0 ? { summarised: range } : {}),
      ...(draw("leaving out") % 3 === 0 ? { fields: { omit: ["a"], inputs: ["b"] } } : {}),
      ...(draw("silencing") % 4 === 0 ? { system: "omit" as const } : {}),
      ...(draw("complaining") % 2 === 0 ? { pressed: true } : {}),
      reason: "it wanted to",
    };
  };
  const next: NextSummary = (input) => {
    const draw = drawn(input);
    if (draw("next") % 2 === 0) return null;
    const covers = { from: draw("covers") % 3, to: draw("to") % 5 };
    return { covers, earlier: draw("earlier") % 2 === 0 ? null : { from: covers.from, to: draw("until") % 3 } };
  };
  return summing(policyNamed("wilful", { seed }, decide), next, 1 + (seed % 200));
}

/** Makes a policy that decides differently at each call, so it is not a function of its input. */
export function fickle(seed: number): Policy {
  let calls = 0;
  return summing(
    policyNamed("fickle", { seed }, (input) => wilful(seed + calls++).decide(input)),
    (input) => wilful(seed + calls++).summariser?.next(input) ?? null,
  );
}

/** Makes a policy that writes into its input before it decides to keep everything. */
export function scribbling(): Policy {
  return policyNamed("scribbling", {}, (input) => {
    const { history } = input;
    // The casts are deliberate: the policy's input is read-only.
    for (const units of [history.fixed(), ...[...history.newestFirst()].map((turn) => turn.units())] as Unit[][]) {
      for (const { messages } of units) scribble(messages as Unit["messages"][number][]);
      units.length = 0;
    }
    for (const given of [input.lastCut, input.budget, ...history.newestFirst()]) {
      if (given !== null) Object.assign(given, { turn: 7, from: { turn: 9, unit: 9 }, tokens: 1, summaries: [] });
    }
    Object.assign(history, { fixed: () => [] });
    return { from: null, reason: "it has left its mark" };
  });
}

function scribble(messages: Unit["messages"][number][]): void {
  const [first] = messages.splice(0, 1);
  Object.assign(first ?? {}, { role: "assistant" });
  // The cast is deliberate, as above.
  (first?.parts as unknown[] | undefined)?.push({ type: "text", text: "I was here." });
}

/** Returns policies that break their contract, each in a different way: by throwing, or by an invalid decision. */
export function hostilePolicies(): readonly Policy[] {
  return [
    policyNamed("throws", {}, () => {
      throw new Error("no decision today");
    }),
    policyNamed("throws-a-text", {}, () => {
      // oxlint-disable-next-line typescript/only-throw-error -- a policy may be foreign code
      throw "a text";
    }),
    policyNamed("throws-nothing-printable", {}, () => {
      // oxlint-disable-next-line typescript/only-throw-error -- as above; this one cannot even be converted to a string
      throw Object.create(null);
    }),
    policyNamed("throws-late", {}, ({ history }) => {
      for (const turn of history.newestFirst()) for (const unit of turn.units()) throw new Error(`at ${unit.id}`);
      return { from: null, reason: "an empty thread" };
    }),
    ...invalidDecisions.map((decide, index) =>
      // The cast is deliberate: the types exclude these decisions.
      policyNamed(`invalidDecisions-${index}`, {}, () => decide() as PolicyDecision),
    ),
    // The types exclude a promise here; an async function in JavaScript returns one all the same.
    policyNamed("decides-later", {}, () => Promise.reject(new Error("too late")) as unknown as PolicyDecision),
    summarising("wants-invalidDecisions", () => ({ covers: { from: 2, to: 1 }, earlier: null })),
    summarising("wants-what-is-not-there", () => ({ covers: { from: 1, to: 99 }, earlier: { from: 0, to: 99 } })),
    summarising("wants-the-same-again", ({ history }) => {
      const oldest = [...history.newestFirst()].findLast(({ number }) => number > 0)?.number;
      return oldest === undefined ? null : { covers: { from: oldest, to: oldest }, earlier: null };
    }),
    summarising("throws-when-asked-for-more", () => {
      throw new Error("no more today");
    }),
    // Another promise, in place of the wanted summary.
    summarising("wants-later", () => Promise.reject(new Error("too late")) as unknown as null),
    policyNamed("drops-the-first-of-each-turn", {}, ({ history }) => ({
      from: null,
      dropped: [...history.newestFirst()].flatMap((turn) => firstId(turn.units())),
      reason: "beginnings bore it",
    })),
    policyNamed("beyond-the-end", {}, () => ({
      from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 },
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

type NextSummary = NonNullable<Policy["summariser"]>["next"];

function summing(policy: Policy, next: NextSummary, maxTokens = 100): Policy {
  return { ...policy, summariser: { instruction: "Sum up.", model: {}, maxTokens, next } };
}

function summarising(name: string, next: NextSummary): Policy {
  return summing(
    policyNamed(name, {}, () => ({ from: null, reason: "all is kept, and summed up" })),
    next,
  );
}

function firstId(units: readonly Unit[]): readonly string[] {
  return units.slice(0, 1).map(({ id }) => id);
}
