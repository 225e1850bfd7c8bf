import {
  type CallLlm,
  type ConversationMachine,
  type Effect,
  type Entry,
  type Event,
  type Handled,
  outstanding,
  promptOf,
  start,
  type Started,
  type State,
  type Transition,
  transition,
} from "@colloquy/machine";
import { explain } from "@colloquy/machine/inspect";
import { fold } from "@colloquy/machine/journal";

/** The events that were sent to a machine, and the transition of each. */
export interface Trace {
  readonly started: Started;
  readonly steps: readonly TraceStep[];
}

export interface TraceStep {
  /** The machine that received the event; a schedule that changes the configuration uses several. */
  readonly machine: ConversationMachine;
  readonly event: Event;
  readonly before: State;
  readonly transition: Transition;
}

/** Returns the states of a trace, the first and the last included. A refused event adds no state. */
export const statesOf = (trace: Trace): readonly State[] => [
  trace.started.state,
  ...handledSteps(trace).map(({ transition }) => transition.state),
];

/** Returns the journal of a trace: the first entry, and one for each handled event. */
export const entriesOf = (trace: Trace): readonly Entry[] => [
  trace.started.entry,
  ...handledSteps(trace).map(({ transition }) => transition.entry),
];

/** Returns the steps whose event was handled. */
export const handledSteps = (trace: Trace): readonly HandledStep[] => trace.steps.filter(isHandled);

export interface HandledStep extends TraceStep {
  readonly transition: Handled;
}

export const effectsOf = <Type extends Effect["type"]>(
  { effects }: Transition,
  type: Type,
): readonly Extract<Effect, { readonly type: Type }>[] => {
  const all: readonly Effect[] = effects;
  return all.filter((effect): effect is Extract<Effect, { readonly type: Type }> => effect.type === type);
};

/** Returns the model call for an answer that a transition asks for; it asks for one at most. */
export const answeringCallOf = (transition: Transition): CallLlm | undefined =>
  effectsOf(transition, "callLlm").find(({ purpose }) => purpose === "answer");

export const isHandled = (step: TraceStep): step is HandledStep => step.transition.handled;

/**
 * The functions that the laws check. A test of a law passes a faulty function, which the law must notice; all others
 * use the machine's own.
 */
export interface Subject {
  readonly start: typeof start;
  readonly transition: typeof transition;
  readonly outstanding: typeof outstanding;
  readonly fold: typeof fold;
  readonly promptOf: typeof promptOf;
  readonly explain: typeof explain;
}

/** The machine's own functions. */
export const realSubject: Subject = { start, transition, outstanding, fold, promptOf, explain };
