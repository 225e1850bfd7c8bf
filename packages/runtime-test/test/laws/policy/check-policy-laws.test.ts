import {
  clearResults,
  compose,
  fitOversized,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  type Policy,
  tokenWindow,
} from "@colloquy/machine/policies";
import { type Move, realSubject, type Subject } from "@colloquy/runtime-test/arbitraries";
import { checkPolicyLaws, LawBroken, policyLaws, type PolicyLawsRun } from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";
import { type Checking, counterexampleOf, type Play } from "../../../src/laws/policy/counterexample.ts";
import { mostTries } from "../../../src/laws/policy/smaller.ts";
import { runs, spread } from "../runs.ts";
import { policyFaults } from "./policy-faults.ts";

const forgetful: Policy = {
  ...keepAll(),
  name: "forgetful",
  decide: ({ history }) => {
    if ([...history.newestFirst()].length > 1) throw new RangeError("that is too much");
    return { from: null, reason: "all is kept" };
  },
};

/** Returns the error of a check about a policy that breaks a law. */
const foundIn = (policy: Policy, run: PolicyLawsRun): LawBroken => {
  try {
    checkPolicyLaws(policy, run);
  } catch (thrown) {
    if (thrown instanceof LawBroken) return thrown;
    throw thrown;
  }
  throw new Error(`${policy.name} broke no law`);
};

/** Returns the machine's own functions, which count the conversations. */
const counting = (): { readonly subject: Subject; readonly counts: { start: number } } => {
  const counts = { start: 0 };
  const subject: Subject = {
    ...realSubject,
    start: (machine, input) => {
      counts.start += 1;
      return realSubject.start(machine, input);
    },
  };
  return { subject, counts };
};

describe("what is found", () => {
  test("is reported with the law, the policy, the shortest conversation, a line for each event, and how to repeat it", async () => {
    const late = { afterMs: 1_000 };
    const answer = { ...late, move: "answer", pick: 1, finishReason: null, content: null } as const;
    const moves: readonly Move[] = [
      { ...late, move: "ask", input: "What is the weather like in Paris, and in all of its suburbs?", name: "ada" },
      { ...late, move: "resetSystem" },
      { ...answer, reply: { content: "The sun shines there all day." }, usage: { inputTokens: 12 } },
      { ...late, move: "changeSystem", system: "Be brief." },
      { ...late, move: "ask", input: "And tomorrow?", metadata: { from: "phone" } },
      { ...answer, reply: { content: "It rains." } },
      { ...late, move: "checkpoint", name: "here" },
    ];
    const play: Play = {
      schedule: { input: { threadId: "weather", at: 0, system: "You know the weather.", model: { heat: 1 } }, moves },
      shares: [0.3],
      budget: { tokens: 1_000, reserve: 100 },
      interrupted: "omit",
    };
    const checking: Checking = { options: { policy: forgetful }, laws: [["usable", policyLaws.usable]] };
    const found = { counterexample: [play] satisfies [Play], counterexamplePath: "62", seed: 7 };
    const errorInstance = new LawBroken("usable", "as it was found");

    const { message } = counterexampleOf(checking, { ...found, errorInstance });
    await expect(`${message}\n`).toMatchFileSnapshot("counterexample.txt");
  });

  test("is found again from the seed and the path", () => {
    const { message } = foundIn(forgetful, { runs: 50, seed: 7 });
    const [, path] = /path: "([^"]*)"/.exec(message) ?? [];
    expect(path).toBeDefined();
    expect(foundIn(forgetful, { seed: 7, path: path ?? "" }).message).toBe(message);
  });

  test("says what was decided", () => {
    const policy: Policy = {
      ...compose(lastTurns(1)),
      decide: ({ lastCut }) => ({
        from: lastCut === null ? { turn: Number.MAX_SAFE_INTEGER, unit: 0 } : null,
        reason: "on a whim",
      }),
    };
    expect(() => checkPolicyLaws(policy, { runs: 20, seed: 1 })).toThrow(
      /P5: compose@1 after entry \d+, .* decides otherwise.*it decided \{"policy":"compose@1".*"reason":"on a whim"/,
    );
  });

  test("leaves out a law that a policy is not held to", () => {
    checkPolicyLaws(forgetful, { runs: 10, except: ["usable", "P5"] });
  });
});

describe("a check looks at few conversations", () => {
  test.each(
    spread(
      policyFaults.filter(({ subject }) => subject === undefined),
      2,
    ),
  )("and few more to find a short one that breaks $law: one that $what", ({ options = {} }) => {
    const { subject, counts } = counting();
    const { policy = keepAll(), ...others } = options;
    const check = () => checkPolicyLaws({ policy, ...others }, { seed: 3, subject, except: ["P9"] });
    expect(check).toThrow(LawBroken);
    expect(counts.start).toBeLessThan(100 + mostTries);

    const lines = messageOf(check).split("\n");
    expect(lines.filter((line) => /^ {2}/.test(line)).length).toBeLessThan(10);
    expect(Math.max(...lines.slice(1).map(({ length }) => length))).toBeLessThan(400);
  });
});

describe("the author of a policy that never makes room", () => {
  /** Shows what would fit into a thousand times the room. */
  const greedy: Policy = {
    ...tokenWindow(),
    name: "greedy",
    decide: (input) =>
      tokenWindow().decide({
        ...input,
        available: input.available === null ? null : 1_000 * input.available,
        budget: null,
      }),
  };

  test.each([keepAll(), greedy])("reads it in the report: $name", (policy) => {
    const { tight, fitting, remarks } = checkPolicyLaws(policy, { runs: 20, seed: 1 });
    expect(tight).toBeGreaterThan(20);
    expect(fitting).toBe(0);
    expect(remarks).toEqual([expect.stringContaining(`${policy.name} never makes room: of ${tight} prompts`)]);
  });

  test("may have it taken for a fault", () => {
    expect(() => checkPolicyLaws(greedy, { seed: 1, makesRoom: true })).toThrow(
      /^P4: greedy@1 after entry \d+, with a budget of \d+ shows \d+ tokens, there is room for \d+, and what must be shown would fit/,
    );
  });

  test.each([
    tokenWindow(),
    tokenWindow({ cutTo: 0.5 }),
    compose(limitResults({ characters: 500 }), clearResults({ keep: 1 }), fitOversized(), tokenWindow({ cutTo: 0.6 })),
  ])("gets no remark if it makes room: $name", (policy) => {
    const { tight, fitting, remarks } = checkPolicyLaws(policy, { runs: runs(100), seed: 1, makesRoom: true });
    expect(remarks).toEqual([]);
    expect(fitting).toBe(tight);
  });
});

const messageOf = (run: () => unknown): string => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown.message;
  }
  return "";
};

describe("how a check is run", () => {
  test.each<[run: object, reason: RegExp]>([
    [{ runs: 0 }, /checkPolicyLaws: runs must be a whole number ≥ 1 \(got 0\)/],
    [{ seed: 1.5 }, /checkPolicyLaws: seed must be a whole number \(got 1\.5\)/],
    [{ claims: "al" }, /checkPolicyLaws: claims must be "all" \(got "al"\)/],
    [{ except: ["P99"] }, /checkPolicyLaws: except must be a list of names of laws: .*P11.* \(got a list\)/],
    [{ except: "P9" }, /checkPolicyLaws: except must be a list/],
    [{ makeRoom: true }, /checkPolicyLaws has no option "makeRoom"/],
  ])("is checked: %j", (run, reason) => {
    expect(() => checkPolicyLaws(keepAll(), run)).toThrow(reason);
  });

  test("is named with its seed if a claim is broken that has no counterexample", () => {
    const again = 'checkPolicyLaws(policy, { seed: 1, claims: "all" })';
    const run = { seed: 1, claims: "all" } as const;
    expect(() => checkPolicyLaws(keepAll(), { ...run, runs: 20 })).toThrow(again);
    const open = { ...lastTurns(19), newestFirst: false };
    expect(() => checkPolicyLaws(open, { ...run, runs: 1, except: ["P4"] })).toThrow(again);
  });

  test("names the policy that could not be used, and not the one in its place", () => {
    // Casts like a caller in JavaScript, since a decision must not be a promise.
    const decide = (() => Promise.resolve({ from: null, reason: "" })) as unknown as Policy["decide"];
    const broken = foundIn({ ...keepAll(), name: "async", decide }, { seed: 1, runs: 1 });
    expect(broken.message).toMatch(/^usable: (?:after )?entry 0.*: policy "async@1" made an invalid decision/);
  });
});

describe("a policy that is declared monotone", () => {
  const forgetting: readonly Policy[] = [
    tokenWindow({ cutTo: 0.5 }),
    lastTurns(5, { slack: 3 }),
    lastMessages({ max: 10, keepRecent: 4 }),
    lastMessages({ max: 20, keepRecent: 20, keepSystem: false }),
    lastTurns(60, { slack: 40 }),
  ];

  test.each(
    spread(
      forgetting.flatMap((each) => [1, 2, 3].map((seed) => [each.name, seed, each] as const)),
      2,
    ),
  )("breaks P6 if it shows less with older turns to choose from: %s, seed %i", (_, seed, each) => {
    expect(() => checkPolicyLaws({ ...each, monotone: true }, { seed, runs: 10 })).toThrow(/^P6: /);
  });
});
