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

/** A machine under way: where it stands, what it journalled, and which model calls it asked for. */
export interface Drive {
  readonly machine: ConversationMachine;
  state: State;
  readonly entries: Entry[];
  /** Every model call that was asked for, in order. */
  readonly calls: CallLlm[];
}

/** An event before the time is laid on it: a replay has a clock of its own, one millisecond an entry. */
export type Untimed<Timed> = Timed extends unknown ? Omit<Timed, "at"> : never;

/** A machine at the beginning of a thread. */
export const drive = (machine: ConversationMachine, thread: Untimed<Omit<ThreadStarted, "type">>): Drive => {
  const { state, entry } = start(machine, { ...thread, at: 0 });
  return { machine, state, entries: [entry], calls: [] };
};

/** Sends the machine an event; in words what it refused, or null. */
export const send = (driven: Drive, untimed: Untimed<Event>): string | null => {
  // The members of the union lack `at` and nothing else.
  const event = { ...untimed, at: driven.entries.length } as Event;
  const step = transition(driven.machine, driven.state, event);
  if (!step.handled) return `${event.type} was refused (${step.refusal.kind}): ${step.refusal.reason}`;
  driven.state = step.state;
  driven.entries.push(step.entry);
  for (const effect of step.effects) if (effect.type === "callLlm") driven.calls.push(effect);
  return null;
};

/** The model call that is out, when it is the only thing that is; else in words what is out. */
export const soleCall = (driven: Drive): CallLlm | string => {
  const out = outstanding(driven.state);
  const [first] = out;
  if (first?.type === "callLlm" && out.length === 1) return first;
  return out.length === 0 ? "nothing" : out.map(({ type }) => type).join(", ");
};

/** The tool calls that are out, in the order of the reply that asked for them. */
export const toolCallsOut = (driven: Drive): readonly CallTool[] =>
  outstanding(driven.state)
    .filter((effect) => effect.type === "callTool")
    .toSorted((left, right) => left.position - right.position);
