import {
  type CallLlm,
  type CallTool,
  type ConversationMachine,
  type Entry,
  type Event,
  outstanding,
  start,
  type State,
  type ThreadStarted,
  transition,
} from "@colloquy/machine";

/** A running machine: its state, its journal, and the requested model calls. */
export interface Drive {
  readonly machine: ConversationMachine;
  state: State;
  readonly entries: Entry[];
  /** All requested model calls, in order. */
  readonly calls: CallLlm[];
}

/** An event without its time: a replay has its own clock, one millisecond per entry. */
export type Untimed<Timed> = Timed extends unknown ? Omit<Timed, "at"> : never;

/** Starts a thread on a machine. */
export const drive = (machine: ConversationMachine, thread: Untimed<Omit<ThreadStarted, "type">>): Drive => {
  const { state, entry } = start(machine, { ...thread, at: 0 });
  return { machine, state, entries: [entry], calls: [] };
};

/** Sends an event to the machine. Returns the reason of its refusal, or null. */
export const send = (driven: Drive, untimed: Untimed<Event>): string | null => {
  // The members of the union lack only `at`.
  const event = { ...untimed, at: driven.entries.length } as Event;
  const step = transition(driven.machine, driven.state, event);
  if (!step.handled) return `${event.type} was refused (${step.refusal.kind}): ${step.refusal.reason}`;
  driven.state = step.state;
  driven.entries.push(step.entry);
  for (const effect of step.effects) if (effect.type === "callLlm") driven.calls.push(effect);
  return null;
};

/**
 * Returns the outstanding model call if nothing else is outstanding; otherwise a description of the outstanding
 * effects.
 */
export const soleCall = (driven: Drive): CallLlm | string => {
  const out = outstanding(driven.state);
  const [first] = out;
  if (first?.type === "callLlm" && out.length === 1) return first;
  return out.length === 0 ? "nothing" : out.map(({ type }) => type).join(", ");
};

/** Returns the outstanding tool calls, in the order of the reply that requested them. */
export const toolCallsOut = (driven: Drive): readonly CallTool[] =>
  outstanding(driven.state)
    .filter((effect) => effect.type === "callTool")
    .toSorted((left, right) => left.position - right.position);
