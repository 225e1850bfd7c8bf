import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError, type MachineOptions, conversationMachine } from "@colloquy/machine";
import { keepAll, type Policy } from "@colloquy/machine/policies";
import fc from "fast-check";
import { scheduleFor } from "../../arbitraries/journal.ts";
import { budgetArbitrary } from "../../arbitraries/options.ts";
import type { Subject } from "../../arbitraries/trace.ts";
import {
  type Checking,
  counterexampleOf,
  defaults,
  type Found,
  heldToLaws,
  naming,
  seenAgainWith,
  type Play,
} from "./counterexample.ts";
import { brokenBy, type HostLawRun, LawBroken, requireSame, parametersOf, runKinds } from "../evidence/law-broken.ts";
import { fitsOrSaysSo, makesRoom as roomIsMade, makesRoomIfMeant, tightLooks, zeroMeansZero } from "./fitting.ts";
import { moreHistoryShowsMore, moreHistoryShowsMoreAtLength } from "./more-history.ts";
import { newestIsShownFirst, newestIsShownFirstAtLength } from "./newest-first.ts";
import { type PolicyLaw, lookNamed } from "./policy-run.ts";
import { cutsSeldom, promptsArePrefixes, turnNumbersAreStable } from "./stable.ts";
import { decidesTheSameAgain, isNeverReplaced, moreRoomShowsMore } from "./settling.ts";
import { looksWithSystem, openAndPinnedAreWhole, showsSystem, shownIsSubsequence, shownIsWellFormed } from "./shown.ts";
import { recordOf } from "../../arbitraries/values.ts";
import { scribblingOptions } from "../../scribbling/scribbling-options.ts";

/** Checks P10: computing a prompt changes neither the thread nor any argument. */
export const threadIsUntouched: PolicyLaw = ({ views }) => {
  for (const { state, text } of views) {
    if (JSON.stringify(state) !== text)
      throw new LawBroken("P10", `looking at the prompts after entry ${state.context.seq} changed the thread`);
  }
};

/**
 * The laws of pruning, by name. P6 applies to policies that are declared monotone, P9 to those declared stable, P11 to
 * those declared `newestFirst`. `usable`: the machine never has to replace the policy because it throws or its decision
 * is invalid.
 */
export const policyLaws: {
  readonly [Name in `P${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}` | "usable"]: PolicyLaw;
} = {
  // First, because replacing the policy with keep-all breaks other laws.
  usable: isNeverReplaced,
  P1: shownIsSubsequence,
  P2: shownIsWellFormed,
  P3: openAndPinnedAreWhole,
  P4: fitsOrSaysSo,
  P5: decidesTheSameAgain,
  P6: (run) => {
    moreRoomShowsMore(run);
    moreHistoryShowsMore(run);
  },
  P7: zeroMeansZero,
  P8: turnNumbersAreStable,
  P9: promptsArePrefixes,
  P10: (run) => {
    threadIsUntouched(run);
    scribblingChangesNothing(run);
  },
  P11: newestIsShownFirst,
};

/** By default 100 conversations are checked. */
export interface PolicyLawsRun extends HostLawRun {
  /** Laws to skip: `["usable"]` for a policy that may throw. Default: none. */
  readonly except?: readonly (keyof typeof policyLaws)[];
  /**
   * The policy must make room: a prompt that does not fit, although the mandatory part would, breaks P4. Not for
   * policies that wait for a summary. Default false.
   */
  readonly makesRoom?: boolean;
  /** Treats an open claim that would not hold as a broken law, not as a remark. */
  readonly claims?: "all";
  /** For tests of the laws. */
  readonly subject?: Subject;
}

/** The report of `checkPolicyLaws` on a policy that broke no law. */
export interface PolicyLawsReport {
  /** The number of conversations that were checked. */
  readonly conversations: number;
  /** Prompts for which the policy could have made room: the whole thread did not fit, but the mandatory part did. */
  readonly tight: number;
  /** The number of these prompts that fit. */
  readonly fitting: number;
  /**
   * The open claims that would not hold, each with its counterexample. Also whether the policy never makes room or
   * never shows the system message. Each may be a mistake.
   */
  readonly remarks: readonly string[];
}

/**
 * Checks a policy against the laws of pruning, on random conversations with many budgets each. Their tools are called
 * several at once, fail, or never answer. Provider ids repeat; turns are cancelled; there are edits, pins and seeds. In
 * one line of a test: `checkPolicyLaws(myPolicy())`.
 *
 * A policy is checked against its claims. The remarks of the report name the open claims (`newestFirst`, and to make
 * room) that would not hold. `except` skips a claim that is open on purpose, and `claims: "all"` makes an open claim a
 * fault.
 *
 * @param subject the policy, or the options of a machine with that policy. A budget and the treatment of interrupted
 * turns are drawn if the options do not set them.
 * @throws ConfigurationError for an invalid subject or `run`. If a law is broken: `LawBroken`, with the law, the
 * policy, its decision, the shortest conversation that was found, a line for each event, and the seed and path to
 * reproduce it.
 */
export const checkPolicyLaws = (subject: Policy | MachineOptions, run: PolicyLawsRun = {}): PolicyLawsReport => {
  const options = optionsOf(subject);
  checkOptions("checkPolicyLaws", run, policyRunKinds);
  const { path, except = [], makesRoom = false, claims } = run;
  const open = openClaims(options, run);
  const held = Object.entries(policyLaws).filter(([name]) => !except.some((other) => other === name));
  const checking: Checking = {
    options,
    laws: [
      ...held,
      ...(makesRoom ? [["P4", roomIsMade] as const] : []),
      ...(claims === undefined ? [] : open.map(({ name, law }) => [name, law] as const)),
    ],
    ...(run.subject === undefined ? {} : { subject: run.subject }),
    ...(claims === undefined ? {} : { claims }),
  };
  if (!except.includes("P9")) naming(options, () => cutsSeldom(options, 60));
  const counts = { conversations: 0, tight: 0, fitting: 0 };
  const systems = { said: 0, shown: 0 };
  const broken = new Map<OpenClaim, Omit<Found, "seed">>();
  const property = fc.property(playArbitrary(options), (play) => {
    const pruned = heldToLaws(checking, play);
    for (const claim of claims === undefined ? open : []) {
      const errorInstance = broken.has(claim) ? null : brokenBy(() => claim.law(pruned));
      const counterexamplePath = path ?? String(counts.conversations);
      if (errorInstance !== null) broken.set(claim, { counterexample: [play], counterexamplePath, errorInstance });
    }
    const [tight, withSystem] = [tightLooks(pruned), looksWithSystem(pruned)];
    systems.said += withSystem.length;
    systems.shown += withSystem.filter(showsSystem).length;
    counts.conversations += 1;
    counts.tight += tight.length;
    counts.fitting += tight.filter(({ prompt }) => prompt.fits).length;
  });
  // `smallerPlay` shortens the counterexample, because it knows conversations and needs few tries.
  const found = fc.check(property, { ...parametersOf(run, 100), endOnFailure: true });
  if (found.failed) throw counterexampleOf(checking, found);
  // After the drawn conversations, whose counterexamples are shorter.
  const { policy = keepAll() } = options;
  const [never, unsaid] = [neverMakesRoom(policy, counts), neverShowsSystem(policy, systems)];
  seenAgainWith(checking, found.seed, () => {
    if (!except.includes("P6")) moreHistoryShowsMoreAtLength(options);
    if (!except.includes("P11")) newestIsShownFirstAtLength(options);
    if (claims !== undefined) for (const { atLength } of open) atLength?.(options);
    if (never !== null && claims !== undefined && !except.includes("P4")) throw new LawBroken("P4", never);
    if (unsaid !== null && claims !== undefined && !except.includes("P3")) throw new LawBroken("P3", unsaid);
  });
  // A policy that never makes room gets that remark in place of P4's.
  const told = open.filter(({ name }) => claims === undefined && (never === null || name !== "P4"));
  const remarks = told.flatMap((claim) => remarkOn(checking, claim, broken.get(claim), found.seed) ?? []);
  return { ...counts, remarks: [...[never, unsaid].filter((each) => each !== null), ...remarks] };
};

const policyRunKinds: OptionKinds<PolicyLawsRun> = {
  ...runKinds,
  except: kinds.listOf(`names of laws: ${Object.keys(policyLaws).join(", ")}`, (name) =>
    Object.keys(policyLaws).some((law) => law === name),
  ),
  makesRoom: kinds.flag,
  claims: kinds.oneOf("all"),
  subject: kinds.object,
};

/** Describes a claim that the policy could not keep, with the counterexample; null if it could. */
const remarkOn = (
  { options, claims: _, ...checking }: Checking,
  { name, claim, law, atLength }: OpenClaim,
  seen: Omit<Found, "seed"> | undefined,
  seed: number,
): string | null => {
  const alone: Checking = { ...checking, options, laws: [[name, law]], claims: "all" };
  const error =
    seen === undefined
      ? brokenBy(() => naming(options, () => atLength?.(options)))
      : counterexampleOf(alone, { ...seen, seed }, triesForRemark);
  return error === null
    ? null
    : `${options.policy?.name ?? keepAll().name} does not claim "${claim}"; if it did, it would break ${error.message}`;
};

/** The limit that keeps a remark from taking longer than the check. */
const triesForRemark = 100;

const neverMakesRoom = ({ name }: Policy, { tight, fitting }: { tight: number; fitting: number }): string | null =>
  tight === 0 || fitting > 0
    ? null
    : `${name} never makes room: of ${tight} prompts that were too large, and could have fitted, it made none fit; a turn whose prompt does not fit ends unfit`;

/** Returns a remark if the policy never shows the system message, which no law forbids. */
const neverShowsSystem = ({ name }: Policy, { said, shown }: { said: number; shown: number }): string | null =>
  said === 0 || shown > 0
    ? null
    : `${name} never shows the system message: ${said} prompts of threads that have one are without it`;

const playArbitrary = (options: MachineOptions): fc.Arbitrary<Play> =>
  recordOf({
    schedule: scheduleFor({ ...defaults, ...options }),
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
    budget: budgetArbitrary,
    interrupted: fc.constantFrom("keep" as const, "omit" as const),
  });

/** A caller in JavaScript may pass the function that makes a policy; then nothing would be tested. */
const optionsOf = (subject: Policy | MachineOptions): MachineOptions => {
  if (typeof subject === "object" && subject !== null) {
    if ("decide" in subject) return { policy: subject };
    if (subject.policy !== undefined) return subject;
  }
  throw new ConfigurationError(
    `checkPolicyLaws takes a policy, such as tokenWindow(), or the options of a machine with a policy; not ${typeof subject === "function" ? "a function: call it" : JSON.stringify(subject)}`,
  );
};

/**
 * Checks P10: writing into the arguments of the policy, its summariser and the counter does not change the next prompt.
 * The check uses the widest or the narrowest look of the last state.
 */
const scribblingChangesNothing: PolicyLaw = ({ options, views, subject }) => {
  const { state, looks } = views.at(-1) ?? {};
  const look = looks?.at((state?.context.seq ?? 0) % 2 === 0 ? -1 : 0);
  if (state === undefined || look === undefined) return;
  const machine = conversationMachine(scribblingOptions({ ...options, budget: look.budget }));
  subject.promptOf(machine, state);
  const what = `a prompt behind one for which all that was given was written into (${lookNamed(look)})`;
  requireSame("P10", what, look.prompt, subject.promptOf(machine, state));
};

/** A claim that a policy leaves open, and the law that would check it. */
interface OpenClaim {
  readonly name: "P4" | "P11";
  readonly claim: string;
  readonly law: PolicyLaw;
  /** Checks the same law in a long conversation. */
  readonly atLength?: (options: MachineOptions) => void;
}

/**
 * Returns the claims that a policy leaves open: to show what fits, newest first, and to make room. Every policy says whether
 * it is monotone and stable. One with a summariser shows older turns as summaries and waits for them, so it has no open claims.
 */
const openClaims = (
  { policy = keepAll() }: MachineOptions,
  { except = [], makesRoom = false }: { readonly except?: readonly string[]; readonly makesRoom?: boolean },
): readonly OpenClaim[] => {
  if (policy.summariser !== undefined) return [];
  const claims: OpenClaim[] = [];
  if ((policy.newestFirst ?? false) === false) {
    const claiming = { ...policy, newestFirst: true };
    claims.push({
      name: "P11",
      claim: "newestFirst: true",
      law: (run) => newestIsShownFirst({ ...run, policy: claiming }),
      atLength: (options) => newestIsShownFirstAtLength({ ...options, policy: claiming }),
    });
  }
  if (!makesRoom) claims.push({ name: "P4", claim: "makesRoom: true", law: makesRoomIfMeant });
  return claims.filter(({ name }) => !except.includes(name));
};
