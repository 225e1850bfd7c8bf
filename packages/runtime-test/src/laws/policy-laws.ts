import { ConfigurationError, keepAll, type MachineOptions, type Policy } from "@colloquy/machine";
import fc from "fast-check";
import { scheduleFor } from "../arbitraries/journal.ts";
import { budgetArbitrary } from "../arbitraries/options.ts";
import type { Subject } from "../arbitraries/subject.ts";
import { LawBroken } from "./law-broken.ts";
import { fitsOrSaysSo, zeroMeansZero } from "./fitting.ts";
import { type PolicyLaw, runPolicy, unwritten } from "./policy-run.ts";
import { cutsSeldom, promptsArePrefixes } from "./prefixes.ts";
import { decidesTheSameAgain, isNeverReplaced, moreRoomShowsMore } from "./settling.ts";
import { openAndPinnedAreWhole, shownIsSubsequence, shownIsWellFormed } from "./shown.ts";
import { turnNumbersAreStable } from "./turn-numbers.ts";

/** P10: the thread is untouched by looking at its prompts, and nothing that was handed in is written to. */
export const threadIsUntouched: PolicyLaw = ({ views, subject }) => {
  unwritten(() => {
    for (const { state, looks } of views) {
      const before = JSON.stringify(state);
      for (const { machine } of looks) subject.promptOf(machine, state);
      if (JSON.stringify(state) !== before)
        throw new LawBroken("P10", `looking at the prompts after entry ${state.context.seq} changed the thread`);
    }
  });
};

/**
 * The laws of pruning, by name. P6 is about policies that are declared monotone, P9 about those that are declared
 * stable. `usable`: the machine never has to do without the policy, because it throws or decides what can't be meant.
 */
export const policyLaws: {
  readonly [Name in "P1" | "P2" | "P3" | "P4" | "P5" | "P6" | "P7" | "P8" | "P9" | "P10" | "usable"]: PolicyLaw;
} = {
  P1: shownIsSubsequence,
  P2: shownIsWellFormed,
  P3: openAndPinnedAreWhole,
  P4: fitsOrSaysSo,
  P5: decidesTheSameAgain,
  P6: moreRoomShowsMore,
  P7: zeroMeansZero,
  P8: turnNumbersAreStable,
  P9: promptsArePrefixes,
  P10: threadIsUntouched,
  usable: isNeverReplaced,
};

export interface PolicyLawsRun {
  /** How many conversations it is held to the laws on. Default 100. */
  readonly runs?: number;
  /** Repeats a run that was reported. */
  readonly seed?: number;
  /** As reported with the seed: leads to the very conversation. */
  readonly path?: string;
  /** Laws that are not held to: `["usable"]` for a policy that may throw. Default: none. */
  readonly except?: readonly (keyof typeof policyLaws)[];
  /** For tests of the laws. */
  readonly subject?: Subject;
}

/**
 * Holds a policy to the laws of pruning, on random conversations and many budgets each: with tools that are called
 * several at once, fail, or never answer; with provider ids that repeat; with turns that are cancelled, edits, pins
 * and seeds. In one line of a test: `checkPolicyLaws(myPolicy())`.
 *
 * @param subject the policy, or the options of a machine, its policy among them. A budget, and what becomes of
 *   interrupted turns, are drawn where the options do not say.
 * @throws ConfigurationError for what is neither; else with the law that is broken, the policy, what it decided, the
 *   smallest conversation that was found, and the seed and path that lead to it.
 */
export const checkPolicyLaws = (subject: Policy | MachineOptions, run: PolicyLawsRun = {}): void => {
  const options = optionsOf(subject);
  const { runs = 100, seed, path, except = [], subject: functions } = run;
  const held = Object.entries(policyLaws).flatMap(([name, law]) =>
    except.some((other) => other === name) ? [] : [law],
  );
  naming(options, () => {
    if (!except.includes("P9")) cutsSeldom(options);
  });
  fc.assert(
    fc.property(playArbitrary(options), ({ schedule, shares, ...drawn }) => {
      naming(options, () => {
        const how = functions === undefined ? { shares } : { shares, subject: functions };
        const pruned = runPolicy({ ...defaults, ...drawn, ...options }, schedule, how);
        for (const law of held) law(pruned);
      });
    }),
    {
      numRuns: runs,
      includeErrorInReport: true,
      ...(seed === undefined ? {} : { seed }),
      ...(path === undefined ? {} : { path }),
    },
  );
};

/** Whoever holds many policies to the laws wants to know which one, with its options, breaks one. */
const naming = ({ policy = keepAll() }: MachineOptions, run: () => void): void => {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof LawBroken)) throw thrown;
    const words = thrown.message.slice(`${thrown.law}: `.length);
    const options = JSON.stringify(policy.options, (_, value: unknown) => (isLong(value) ? "…" : value));
    throw new LawBroken(thrown.law, `${words} (policy ${policy.name}@${policy.version} ${options})`, { cause: thrown });
  }
};

/** As instructions of summaries are. */
const isLong = (value: unknown): boolean => typeof value === "string" && value.length > 100;

const defaults: MachineOptions = {
  tools: [{ name: "search" }, { name: "pay", recovery: "once" }],
  overlap: { type: "queue", max: 2 },
};

const playArbitrary = (options: MachineOptions) =>
  fc.record(
    {
      schedule: scheduleFor({ ...defaults, ...options }),
      shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
      budget: budgetArbitrary,
      interrupted: fc.constantFrom("keep" as const, "omit" as const),
    },
    { noNullPrototype: true },
  );

/** Whoever writes JavaScript may hand in the function that makes a policy: then nothing would be tested. */
const optionsOf = (subject: Policy | MachineOptions): MachineOptions => {
  if (typeof subject === "object" && subject !== null) {
    if ("decide" in subject) return { policy: subject };
    if (subject.policy !== undefined) return subject;
  }
  throw new ConfigurationError(
    `checkPolicyLaws takes a policy, such as tokenWindow(), or the options of a machine with a policy; not ${typeof subject === "function" ? "a function: call it" : JSON.stringify(subject)}`,
  );
};
