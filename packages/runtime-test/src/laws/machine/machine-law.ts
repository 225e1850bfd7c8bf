import { type ConversationMachine, conversationMachine, type MachineOptions } from "@colloquy/machine";
import { keepAll, lastTurns } from "@colloquy/machine/policies";
import { runSchedule } from "../../arbitraries/run-schedule.ts";
import type { Schedule } from "../../arbitraries/schedule.ts";
import { type HandledStep, handledSteps, realSubject, type Subject, type Trace } from "../../arbitraries/trace.ts";

/**
 * A law of the machine. It sends the events of the schedule to a machine with these options, and throws `LawBroken` if
 * its promise does not hold. `subject` is for tests of the law itself.
 */
export type MachineLaw = (options: MachineOptions, schedule: Schedule, subject?: Subject) => void;

/**
 * Runs a schedule; its `reconfigure` moves switch to a machine that decides most things differently, and back. The last
 * trace of a schedule is cached, because running each schedule once for every law took a fifth of `checkMachineLaws`.
 * Callers must not write into it. For a second run, pass other options.
 */
export const traceFor: LookAtSchedule<Trace> = (options, schedule, subject = realSubject) => {
  const known = traces.get(schedule);
  if (known?.options === options && known.subject === subject) return known.trace;
  const { machine, alternate } = machinesFor(options);
  const trace = runSchedule(machine, schedule, { alternate, subject });
  traces.set(schedule, { options, subject, trace });
  return trace;
};

type LookAtSchedule<Seen> = (options: MachineOptions, schedule: Schedule, subject?: Subject) => Seen;

const traces = new WeakMap<Schedule, { options: MachineOptions; subject: Subject; trace: Trace }>();

export const namedSteps: LookAtSchedule<readonly NamedStep[]> = (...given) =>
  handledSteps(traceFor(...given)).map((step, index) => ({ ...step, name: `handled ${stepNamed(index, step.event)}` }));

export interface NamedStep extends HandledStep {
  readonly name: string;
}

/** Caches a value by the identity of the options, since making a machine takes longer than most steps. */
export const onceFor = <Made>(make: (options: MachineOptions) => Made): ((options: MachineOptions) => Made) => {
  const known = new WeakMap<MachineOptions, { readonly made: Made }>();
  return (options) => {
    const found = known.get(options) ?? { made: make(options) };
    known.set(options, found);
    return found.made;
  };
};

export const machinesFor: (options: MachineOptions) => {
  readonly machine: ConversationMachine;
  readonly alternate: ConversationMachine;
} = onceFor((options) => ({
  machine: conversationMachine(options),
  alternate: conversationMachine(alternateOptions(options)),
}));

export const alternateOptions: (options: MachineOptions) => MachineOptions = onceFor((options) => ({
  ...options,
  policy: options.policy?.name === "last-turns" ? keepAll() : lastTurns(1),
  overlap: options.overlap?.type === "queue" ? { type: "reject" } : { type: "queue", max: 2 },
  interrupted: options.interrupted === "omit" ? "keep" : "omit",
  unknownTool: options.unknownTool === "ask" ? "result" : "ask",
  limits: options.limits === undefined ? { steps: 2, toolCalls: 3 } : {},
  budget: (options.budget ?? null) === null ? { tokens: 250, reserve: 50 } : null,
  idleTimeoutMs: 7_000,
}));

/** Returns whether a law checks the state after this step as a whole. States share their parts, so a few suffice. */
export const isLookedAt = ({ steps }: Trace, index: number): boolean =>
  (steps.length - 1 - index) % Math.max(1, Math.ceil(steps.length / statesLookedAt)) === 0;

const statesLookedAt = 6;

export const stepNamed = (index: number, event: { readonly type: string }): string => `step ${index} (${event.type})`;
