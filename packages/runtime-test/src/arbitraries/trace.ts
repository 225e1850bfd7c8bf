import type {
  ConversationMachine,
  Entry,
  Event,
  Handled,
  LaterEntry,
  Started,
  State,
  Transition,
} from "@colloquy/machine";

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

/** Returns the entries of the steps whose event was handled. */
export const entriesOfSteps = (steps: readonly TraceStep[]): readonly LaterEntry[] =>
  steps.filter(isHandled).map(({ transition }) => transition.entry);

/** Returns the steps whose event was handled. */
export const handledSteps = (trace: Trace): readonly HandledStep[] => trace.steps.filter(isHandled);

export interface HandledStep extends TraceStep {
  readonly transition: Handled;
}

const isHandled = (step: TraceStep): step is HandledStep => step.transition.handled;
