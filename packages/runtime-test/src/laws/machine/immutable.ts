import { conversationMachine, type MachineOptions, type Transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { runSchedule } from "../../arbitraries/run-schedule.ts";
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { entriesOf, type Trace } from "../../arbitraries/trace.ts";
import { Scribbler } from "../../scribbling/scribble.ts";
import { scribblingOptions } from "../../scribbling/scribbling-options.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { alternateOptions, isLookedAt, type MachineLaw, onceFor, stepNamed, traceFor } from "./machine-law.ts";

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
  requireSame("M4", "the beginning, when all that left was written into", expected.started, actual.started);
  for (const [index, { event, transition }] of expected.steps.entries()) {
    const name = `${stepNamed(index, event)}, when all that left was written into`;
    const { transition: result } = actual.steps[index] ?? {};
    requireSame("M4", name, withoutState(transition), result && withoutState(result));
  }
  for (const [index, { transition }] of expected.steps.entries()) {
    if (!isLookedAt(expected, index)) continue;
    const name = `the state after step ${index}, when all that left was written into`;
    requireSame("M4", name, transition.state, actual.steps[index]?.transition.state);
  }
  requireFold(subject, expected, actual);
};

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
const requireFold = (subject: Subject, expected: Trace, actual: Trace): void => {
  requireSame("M4", "the journal, when all that left was written into", entriesOf(expected), entriesOf(actual));
  // A reader of a store has a separate copy.
  const own = ownCopy(entriesOf(expected));
  const folded = subject.fold(own);
  if (Either.isLeft(folded)) throw new LawBroken("M4", `the journal is none: ${folded.left.reason}`);
  const state = folded.right;
  const before = JSON.stringify(state);
  const scribbler = new Scribbler();
  scribbler.visit(own);
  scribbler.visit(state);
  if (JSON.stringify(state) !== before)
    throw new LawBroken("M4", "writing into a journal that was folded, or into its state, changes the state");
};

/** Returns a subject that writes into the arguments of each call afterwards, and into its results. */
const scribblingSubject = (subject: Subject, scribbler: Scribbler): Subject => ({
  ...subject,
  start: (machine, input) => {
    const own = ownCopy(input);
    const started = subject.start(machine, own);
    scribbler.visit([own, started]);
    return started;
  },
  transition: (machine, state, event, options) => {
    const own = ownCopy(event);
    const result = subject.transition(machine, state, own, options);
    scribbler.visit([own, result]);
    const isAtWork = result.effects.some(({ type }) => type === "callLlm" || type === "callTool");
    if (isAtWork) scribbler.visit([subject.promptOf(machine, result.state), subject.outstanding(result.state)]);
    return result;
  },
});

/** Returns the same options, with a copy of their data that no other object shares. */
const unshared = (options: MachineOptions): MachineOptions => ({ ...options, ...ownCopy(dataIn(options)) });

/** Returns the options without those that contain functions. */
const dataIn = ({ policy: _, counter: __, pricing: ___, ...data }: MachineOptions): Partial<MachineOptions> => data;

const ownCopy = <Value>(value: Value): Value => structuredClone(value);
