import { conversationMachine, type MachineOptions, type Transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { runSchedule } from "../../arbitraries/run-schedule.ts";
import { entriesOf, realSubject, type Subject, type Trace } from "../../arbitraries/trace.ts";
import { Scribbler } from "../../scribbling/scribble.ts";
import { scribblingOptions } from "../../scribbling/scribbling-options.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { alternateOptions, isLookedAt, type MachineLaw, onceFor, stepNamed, traceFor } from "./machine-law.ts";

/** Checks M4: inputs are never changed. Options, events, states, effects and entries are deeply frozen before use. */
export const untouched: MachineLaw = (options, schedule, subject = realSubject) => {
  deepFreeze(options);
  deepFreeze(schedule);
  try {
    const trace = traceFor(options, schedule, freezing(subject));
    const entries = deepFreeze(entriesOf(trace));
    subject.fold(entries);
    for (const [index, { machine, transition }] of trace.steps.entries()) {
      if (!isLookedAt(trace, index)) continue;
      subject.outstanding(transition.state);
      subject.promptOf(machine, transition.state);
    }
  } catch (thrown) {
    if (!isWriteToFrozen(thrown)) throw thrown;
    throw new LawBroken("M4", `something that was handed in was written to: ${thrown.message}`, { cause: thrown });
  }
};

/**
 * Checks the other half of M4: no returned value is a live part of a conversation. The check writes into returned
 * states, effects, entries and prompts, and into passed options and events after the call. The conversation must be the
 * same as without these writes, step by step.
 */
export const immutable: MachineLaw = (options, schedule, subject = realSubject) => {
  const expected = traceFor(options, schedule, subject);
  const { machine, scribbler } = scribbled(options);
  const { machine: alternate } = scribbled(alternateOptions(options));
  const scribbling = scribblingSubject(subject, scribbler);
  const actual = goingOn(() => runSchedule(machine, schedule, { subject: scribbling, alternate }));
  requireUnchanged("the beginning", expected.started, actual.started);
  for (const [index, { event, transition }] of expected.steps.entries()) {
    const result = actual.steps[index]?.transition;
    requireUnchanged(stepNamed(index, event), withoutState(transition), result && withoutState(result));
  }
  for (const [index, { transition }] of expected.steps.entries())
    if (isLookedAt(expected, index))
      requireUnchanged(`the state after step ${index}`, transition.state, actual.steps[index]?.transition.state);
  requireUnchanged("the journal", entriesOf(expected), entriesOf(actual));
  requireFold(subject, expected);
};

/** Returns whether a thrown value is the engine's error for a write to a frozen object. */
export const isWriteToFrozen = (thrown: unknown): thrown is TypeError =>
  thrown instanceof TypeError && aboutFrozen.test(thrown.message);

const aboutFrozen = /read.?only|not extensible|non-extensible|delete property|unconfigurable|non-configurable/i;

/** Deeply freezes a value and returns it. A frozen object is assumed to be deeply frozen. */
export const deepFreeze = <Value>(value: Value): Value => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze<unknown>(member);
  return value;
};

/** Returns the path to the first object in a value that is not frozen; null if all are. */
export const unfrozenIn = (value: unknown, path = "it"): string | null => {
  if (typeof value !== "object" || value === null) return null;
  if (!Object.isFrozen(value)) return path;
  for (const [name, member] of Object.entries(value)) {
    const found = unfrozenIn(member, `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
};

/** Returns the same functions, with arguments and results that are deeply frozen. */
export const freezing = (subject: Subject): Subject => ({
  ...subject,
  start: (machine, input) => deepFreeze(subject.start(machine, input)),
  transition: (machine, state, event, options) =>
    deepFreeze(subject.transition(machine, deepFreeze(state), deepFreeze(event), options)),
  promptOf: (machine, state) => deepFreeze(subject.promptOf(machine, deepFreeze(state))),
});

const requireUnchanged = (what: string, expected: unknown, actual: unknown): void =>
  requireSame("M4", `${what}, when all that left was written into`, expected, actual);

const withoutState = ({ state: _, ...rest }: Transition): Omit<Transition, "state"> => rest;

/**
 * A machine whose options were written into after its creation, and that writes into the arguments of its functions.
 */
const scribbled = onceFor((options) => {
  const given = unshared(options);
  const scribbler = new Scribbler();
  const machine = conversationMachine(scribblingOptions(given, scribbler));
  scribbler.visit(dataIn(given));
  return { machine, scribbler };
});

/** Runs a conversation. If the writes make it throw, throws `LawBroken`. */
const goingOn = (run: () => Trace): Trace => {
  try {
    return run();
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new LawBroken("M4", `when all that leaves is written into, the conversation can't go on: ${reason}`, {
      cause: thrown,
    });
  }
};

/** Checks M5 as well: a state that was written into would no longer be the fold of the journal. */
const requireFold = (subject: Subject, trace: Trace): void => {
  // A reader of a store has a separate copy.
  const own = structuredClone(entriesOf(trace));
  const folded = subject.fold(own);
  if (Either.isLeft(folded)) throw new LawBroken("M4", `the journal is none: ${folded.left.reason}`);
  const state = folded.right;
  const before = JSON.stringify(state);
  new Scribbler().visit([own, state]);
  if (JSON.stringify(state) !== before)
    throw new LawBroken("M4", "writing into a journal that was folded, or into its state, changes the state");
};

/** Returns a subject that writes into the arguments of each call afterwards, and into its results. */
const scribblingSubject = (subject: Subject, scribbler: Scribbler): Subject => ({
  ...subject,
  start: (machine, input) => {
    const own = structuredClone(input);
    const started = subject.start(machine, own);
    scribbler.visit([own, started]);
    return started;
  },
  transition: (machine, state, event, options) => {
    const own = structuredClone(event);
    const result = subject.transition(machine, state, own, options);
    scribbler.visit([own, result]);
    const isAtWork = result.effects.some(({ type }) => type === "callLlm" || type === "callTool");
    if (isAtWork) scribbler.visit([subject.promptOf(machine, result.state), subject.outstanding(result.state)]);
    return result;
  },
});

/** Returns the same options, with a copy of their data that no other object shares. */
const unshared = (options: MachineOptions): MachineOptions => ({ ...options, ...structuredClone(dataIn(options)) });

const dataIn = ({ policy: _, counter: __, pricing: ___, ...data }: MachineOptions): Partial<MachineOptions> => data;
