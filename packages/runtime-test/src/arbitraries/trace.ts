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

/** The events that a machine was sent, and what came of each. */
export interface Trace {
  readonly started: Started;
  readonly steps: readonly TraceStep[];
}

export interface TraceStep {
  /** The machine that it was sent to; not always the same one when a schedule changes the configuration. */
  readonly machine: ConversationMachine;
  readonly event: Event;
  readonly before: State;
  readonly transition: Transition;
}

/** The states that a trace went through, the first and the last included; an event that was refused adds none. */
export const statesOf = (trace: Trace): readonly State[] => [
  trace.started.state,
  ...handledSteps(trace).map(({ transition }) => transition.state),
];

/** The journal of a trace: the first entry, and one for each event that was handled. */
export const entriesOf = (trace: Trace): readonly Entry[] => [
  trace.started.entry,
  ...handledSteps(trace).map(({ transition }) => transition.entry),
];

/** The entries of those steps whose event was handled. */
export const entriesOfSteps = (steps: readonly TraceStep[]): readonly LaterEntry[] =>
  steps.filter(isHandled).map(({ transition }) => transition.entry);

/** The steps whose event was handled. */
export const handledSteps = (trace: Trace): readonly HandledStep[] => trace.steps.filter(isHandled);

export interface HandledStep extends TraceStep {
  readonly transition: Handled;
}

const isHandled = (step: TraceStep): step is HandledStep => step.transition.handled;
