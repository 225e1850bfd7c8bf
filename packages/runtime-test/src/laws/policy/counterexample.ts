import { keepAll } from "@colloquy/machine/policies";
import { type MachineOptions, conversationMachine, type Event, type ThreadStarted } from "@colloquy/machine";
import type { RunDetails } from "fast-check";
import type { Schedule } from "../../arbitraries/schedule.ts";
import type { Subject, Trace } from "../../arbitraries/trace.ts";
import { brokenBy, LawBroken, wordsOf } from "../evidence/law-broken.ts";
import { type PolicyLaw, type PolicyRun, runPolicy, unchanging } from "./policy-run.ts";
import { smallerSchedule } from "./smaller.ts";
import { runSchedule } from "../../arbitraries/run-schedule.ts";

export interface Checking {
  readonly options: MachineOptions;
  /** Each law with its name, in the order of the checks. */
  readonly laws: readonly (readonly [name: string, law: PolicyLaw])[];
  readonly subject?: Subject;
  /** If set, the check includes the claims that the policy does not make. */
  readonly claims?: "all";
}

/** A drawn conversation, and drawn values for the options that the caller did not set. */
export interface Play {
  readonly schedule: Schedule;
  readonly shares: readonly number[];
  readonly budget: NonNullable<MachineOptions["budget"]> | null;
  readonly interrupted: NonNullable<MachineOptions["interrupted"]>;
}

export const defaults: MachineOptions = {
  tools: [{ name: "search" }, { name: "pay", recovery: "once" }],
  overlap: { type: "queue", max: 2 },
};

/** Runs the policy on a conversation and checks all laws. Returns the run if none is broken. */
export const heldToLaws = (checking: Checking, play: Play): PolicyRun => {
  const { laws, subject } = checking;
  const how = subject === undefined ? {} : { subject };
  const run = runPolicy(optionsIn(checking, play), play.schedule, { ...how, shares: play.shares });
  for (const [, law] of laws) law(run);
  return run;
};

/** The conversation that broke a law, and the seed and path that reproduce it. */
export type Found = Pick<RunDetails<[Play]>, "counterexample" | "counterexamplePath" | "seed" | "errorInstance">;

/** Returns an error with the broken law, the shortest conversation that breaks it so, and how to reproduce it. */
export const counterexampleOf = (checking: Checking, found: Found, tries?: number): Error => {
  const { counterexample, counterexamplePath, seed, errorInstance } = found;
  if (counterexample === null)
    return new Error(`the path gives no conversation with seed ${seed}; use both from one failed check`);
  const law = lawOf(errorInstance);
  const only = { ...checking, laws: checking.laws.filter(([name]) => name === law) };
  const isWrong = (tried: Play): boolean => {
    const thrown = thrownBy(only, tried);
    return thrown !== null && lawOf(thrown) === law;
  };
  const play = smallerPlay(counterexample[0], isWrong, tries);
  const thrown = thrownBy(only, play) ?? errorInstance;
  const options = optionsIn(checking, play);
  const words = [
    inWords(thrown, options),
    "",
    `The shortest conversation that was found, ${nameOf(options)}:`,
    ...conversationInLines(options, play.schedule),
    "",
    seenAgain(checking, `seed: ${seed}, path: "${counterexamplePath}"`),
  ].join("\n");
  return law === null ? new Error(words, { cause: thrown }) : new LawBroken(law, words, { cause: thrown });
};

const seenAgain = ({ claims }: Checking, run: string): string =>
  `To see it again: checkPolicyLaws(policy, { ${run}${claims === undefined ? "" : ', claims: "all"'} })`;

/** Runs the checks that follow the drawn conversations. Adds the policy and the seed to the error of a broken law. */
export const seenAgainWith = (checking: Checking, seed: number, run: () => void): void => {
  const broken = brokenBy(() => naming(checking.options, run));
  if (broken === null) return;
  const words = `${wordsOf(broken)}\n\n${seenAgain(checking, `seed: ${seed}`)}`;
  throw new LawBroken(broken.law, words, { cause: broken });
};

/** Adds the policy and its options to the error of a broken law, since a caller may check many policies. */
export const naming = (options: MachineOptions, run: () => void): void => {
  const broken = brokenBy(run);
  if (broken !== null) throw new LawBroken(broken.law, inWords(broken, options), { cause: broken });
};

const optionsIn = ({ options }: Checking, { budget, interrupted }: Play): MachineOptions => ({
  ...defaults,
  budget,
  interrupted,
  ...options,
});

const thrownBy = (checking: Checking, play: Play): unknown => {
  try {
    heldToLaws(checking, play);
    return null;
  } catch (thrown) {
    return thrown;
  }
};

const lawOf = (thrown: unknown): string | null => (thrown instanceof LawBroken ? thrown.law : null);

/** Returns a smaller counterexample: first with simpler settings, then with a shorter conversation. */
const smallerPlay = (found: Play, isWrong: (play: Play) => boolean, tries?: number): Play => {
  let play: Play = { ...found, schedule: unchanging(found.schedule) };
  for (const plainer of [{ shares: [] }, { budget: null }, { interrupted: "keep" }] as const) {
    const tried = { ...play, ...plainer };
    if (isWrong(tried)) play = tried;
  }
  return { ...play, schedule: smallerSchedule(play.schedule, (schedule) => isWrong({ ...play, schedule }), tries) };
};

/** Returns an error's message without the name of the law, followed by the policy and its options. */
const inWords = (thrown: unknown, { policy = keepAll() }: MachineOptions): string => {
  const options = JSON.stringify(policy.options, (_, value: unknown) => (isLong(value) ? "…" : value));
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const words = thrown instanceof LawBroken ? wordsOf(thrown) : message;
  return `${words} (policy ${policy.name}@${policy.version} ${options})`;
};

/** Returns whether a value is a long text, such as a summary instruction. */
const isLong = (value: unknown): boolean => typeof value === "string" && value.length > 100;

const nameOf = ({ budget = null, interrupted = "keep" }: MachineOptions): string => {
  const room =
    budget === null
      ? "without a budget"
      : `with a budget of ${budget.tokens} tokens and a reserve of ${budget.reserve}`;
  return `${room}, interrupted turns ${interrupted === "keep" ? "kept" : "left out"}`;
};

/** Formats a conversation for a reader: one line for each event, with the number of its journal entry. */
const conversationInLines = (options: MachineOptions, schedule: Schedule): readonly string[] => {
  const trace = traceOf(options, schedule);
  if (trace === null) return schedule.moves.map(({ move, ...said }) => `  ${move} ${preview(JSON.stringify(said))}`);
  const { entry } = trace.started;
  return [
    line(String(entry.seq), entry.event),
    ...trace.steps.map(({ event, transition }) =>
      transition.handled
        ? line(String(transition.entry.seq), event)
        : `${line("-", event)}, refused: ${preview(transition.refusal.reason)}`,
    ),
  ];
};

const traceOf = (options: MachineOptions, schedule: Schedule): Trace | null => {
  try {
    return runSchedule(conversationMachine(options), schedule);
  } catch {
    return null;
  }
};

const line = (number: string, { type, at: _, ...fields }: Event | ThreadStarted): string =>
  [
    `${number.padStart(3)} ${type}`,
    ...Object.entries(fields)
      .filter(([name]) => name !== "configuration")
      .map(([name, value]) => `${name}=${preview(JSON.stringify(value))}`),
  ].join(" ");

/** Truncates a long text; its beginning is enough for a message. */
const preview = (text = "nothing"): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Unit: UTF-16 units. */
const longest = 100;
