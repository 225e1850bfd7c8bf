import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import type { MachineOptions, Effect, Entry } from "@colloquy/machine";
import fc from "fast-check";
import { scheduleFor } from "../../arbitraries/journal.ts";
import { type Subject, realSubject } from "../../arbitraries/subject.ts";
import { answering, oneAtATime } from "./answering.ts";
import { approving } from "./approving.ts";
import { runKinds } from "../evidence/run-kinds.ts";
import { accounted } from "./asks.ts";
import { continuation } from "./continuation.ts";
import { explaining } from "./explained.ts";
import { type MachineLaw, traceFor, isLookedAt, onceFor, stepNamed, machinesFor } from "./machine-law.ts";
import { outputsHold } from "./outputs.ts";
import { wellFormedPrompts } from "./prompts.ts";
import { nothingLost } from "./said.ts";
import { shownBeforeDelivered } from "./steering.ts";
import { total } from "./total.ts";
import { untouched } from "./untouched.ts";
import { immutable } from "./immutable.ts";
import { usageOfThread } from "./usage.ts";
import * as Either from "fp-ts/lib/Either.js";
import { entriesOf, statesOf, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { describeDifference, replay } from "@colloquy/machine/inspect";

const both =
  (...halves: readonly MachineLaw[]): MachineLaw =>
  (...given) => {
    for (const half of halves) half(...given);
  };

/**
 * Checks M5: the state is the fold of the journal, at the first prefix, at the last, and at some between. Folding takes
 * no configuration, and the journal was written under several. So the entries must contain every decision that depends
 * on a configuration.
 */
const folding: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const entries = entriesOf(trace);
  const states = statesOf(trace);
  const every = Math.ceil(states.length / prefixes);
  for (const [index, state] of states.entries()) {
    if (index !== 0 && (states.length - 1 - index) % every !== 0) continue;
    const name = `the fold of entries 0 to ${index} (${entries[index]?.event.type})`;
    const folded = subject.fold(entries.slice(0, index + 1));
    if (Either.isLeft(folded)) throw new LawBroken("M5", `${name} was refused: ${folded.left.reason}`);
    requireSame("M5", name, state, folded.right);
  }
};

/** The number of checked prefixes. Folding all prefixes would take quadratic time. */
const prefixes = 6;

/**
 * Checks M1: the same configuration, state and event give the same transition, in another machine and when repeated.
 */
const deterministic: MachineLaw = (options, schedule, subject = realSubject) => {
  const first = traceFor(options, schedule, subject);
  const second = traceFor(sameOptions(options), schedule, subject);
  requireSame("M1", "two beginnings", first.started, second.started);
  for (const [index, step] of first.steps.entries()) {
    const name = stepNamed(index, step.event);
    const again = second.steps[index];
    requireSame("M1", `${name} in a second machine`, step.transition, again?.transition);
    const { machine, before, event, transition } = step;
    requireSame("M1", `${name} sent a second time`, transition, subject.transition(machine, before, event));
    if (!isLookedAt(first, index)) continue;
    const prompts = [machine, machine].map((same) => subject.promptOf(same, transition.state));
    requireSame("M1", `two looks at the prompt after ${name}`, prompts[0], prompts[1]);
  }
};

/** Returns a copy of the options, so that `machinesFor` makes separate machines. */
const sameOptions = onceFor((options) => ({ ...options }));

/**
 * Checks R5: a journal sent again requests the same effects: prompts with the recorded digests, under the same ids.
 * `replay`, which decides again, finds no difference and ends in the same state.
 */
const replaying: MachineLaw = (options, schedule, subject = realSubject) => {
  // A random event may contain a digest of a prompt that was never sent, which is a true difference.
  const moves = schedule.moves.filter(({ move }) => move !== "reconfigure" && move !== "send");
  const isWhole = moves.length === schedule.moves.length;
  const trace = traceFor(options, isWhole ? schedule : { ...schedule, moves }, subject);
  const { machine } = machinesFor(options);
  let state = subject.start(machine, schedule.input).state;
  for (const [index, { event, transition }] of handledSteps(trace).entries()) {
    const again = subject.transition(machine, state, event);
    requireSame(
      "R5",
      `what handled ${stepNamed(index, event)} asks for`,
      digests(transition.effects),
      digests(again.effects),
    );
    state = again.state;
  }
  const replayed = replay(machine, entriesOf(trace));
  if (Either.isLeft(replayed))
    throw new LawBroken("R5", `replay finds a difference: ${describeDifference(replayed.left)}`);
  requireSame("R5", "the state after the replay", state, replayed.right);
};

const digests = (effects: readonly Effect[]): readonly object[] =>
  effects.flatMap((effect) => (effect.type === "callLlm" ? { id: effect.id, promptDigest: effect.promptDigest } : []));

/**
 * Checks M3: everything is plain data. State, event, effects and entry equal the parse of their JSON. A conversation
 * whose state and events pass through JSON between its steps stays the same. States share their parts, so only a few
 * steps are checked, including the last: writing all of them took a third of the time of all laws.
 */
const plainData: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  requireSame("M3", "the first state through JSON", trace.started.state, throughJson(trace.started.state));
  requireSame("M3", "the first entry through JSON", trace.started.entry, throughJson(trace.started.entry));
  let state = throughJson(trace.started.state);
  for (const [index, { machine, event, transition }] of trace.steps.entries()) {
    const name = stepNamed(index, event);
    const copied = subject.transition(machine, state, throughJson(event));
    ({ state } = copied);
    if (!isLookedAt(trace, index)) continue;
    requireSame("M3", `${name}, sent to a state that went through JSON`, transition, copied);
    const read = throughJson(transition);
    requireSame("M3", `${name} through JSON`, transition, read);
    ({ state } = read);
    const out = throughJson(subject.outstanding(state));
    requireSame("M3", `outstanding after ${name}`, subject.outstanding(transition.state), out);
    const prompt = subject.promptOf(machine, transition.state);
    requireSame("M3", `the prompt after ${name}`, prompt, throughJson(subject.promptOf(machine, state)));
  }
  const entries: readonly Entry[] = entriesOf(trace);
  requireSame(
    "M3",
    "the fold of entries that went through JSON",
    subject.fold(entries),
    subject.fold(throughJson(entries)),
  );
};

const throughJson = <Value>(value: Value): Value =>
  // JSON.parse returns the type that was written if the value is JSON, which is what this law checks.
  JSON.parse(JSON.stringify(value)) as Value;

/** The laws of the machine, by name. */
export const laws: {
  readonly [
    Name in
      | "M1"
      | "M2"
      | "M3"
      | "M4"
      | "M5"
      | "M6"
      | "M7"
      | "M8"
      | "M9"
      | "M10"
      | "M11"
      | "M12"
      | "M13"
      | "R5"
      | "explain"
  ]: MachineLaw;
} = {
  M1: deterministic,
  M2: total,
  M3: plainData,
  M4: both(untouched, immutable),
  M5: folding,
  M6: both(answering, approving),
  M7: oneAtATime,
  M8: usageOfThread,
  M9: both(continuation, nothingLost),
  M10: wellFormedPrompts,
  M11: accounted,
  M12: shownBeforeDelivered,
  M13: outputsHold,
  R5: replaying,
  explain: explaining,
};

interface MachineLawsRun {
  readonly runs?: number;
  readonly seed?: number;
  readonly subject?: Subject;
}

const machineRunKinds: OptionKinds<MachineLawsRun> = {
  runs: runKinds.runs,
  seed: runKinds.seed,
  subject: kinds.object,
};

/**
 * Checks a machine with these options, above all its policy, against the laws of the machine, on random schedules.
 *
 * @param run `runs` schedules (default 30), from `seed` if given.
 * @throws ConfigurationError for an invalid `run`. If a law is broken: an error with the smallest schedule that was
 * found, its seed, and the law.
 */
export const checkMachineLaws = (options: MachineOptions, run: MachineLawsRun = {}): void => {
  checkOptions("checkMachineLaws", run, machineRunKinds);
  const { runs = 30, seed, subject } = run;
  fc.assert(
    fc.property(scheduleFor(options), (schedule) => {
      for (const law of Object.values(laws)) law(options, schedule, subject);
    }),
    { numRuns: runs, includeErrorInReport: true, ...(seed === undefined ? {} : { seed }) },
  );
};
