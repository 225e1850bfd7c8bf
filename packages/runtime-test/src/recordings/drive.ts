import {
  type CallLlm,
  type CallTool,
  type ConversationMachine,
  type Entry,
  type Event,
  messagesOf,
  outstanding,
  phaseOf,
  start,
  type State,
  toArray,
  transition,
} from "@colloquy/machine";
import { difference, type Script } from "./script.ts";

export interface Drive {
  readonly machine: ConversationMachine;
  state: State;
  readonly entries: Entry[];
  readonly calls: CallLlm[];
}

/** An event without its time: a replay has its own clock, one millisecond per entry. */
type Untimed<Timed> = Timed extends unknown ? Omit<Timed, "at"> : never;

export const drive = (machine: ConversationMachine, { threadId, system, seed }: Script): Drive => {
  const beginning = { ...(system === null ? {} : { system }), ...(seed.length === 0 ? {} : { seed }) };
  const { state, entry } = start(machine, { threadId, ...beginning, at: 0 });
  return { machine, state, entries: [entry], calls: [] };
};

/** Sends an event to the machine. @throws Obstacle at that step of the recording if the machine refuses it */
export const send = (driven: Drive, index: number | null, untimed: Untimed<Event>): void => {
  // The members of the union lack only `at`.
  const event = { ...untimed, at: driven.entries.length } as Event;
  const step = transition(driven.machine, driven.state, event);
  if (!step.handled)
    throw difference(index, `${event.type} was refused (${step.refusal.kind}): ${step.refusal.reason}`);
  driven.state = step.state;
  driven.entries.push(step.entry);
  for (const effect of step.effects) if (effect.type === "callLlm") driven.calls.push(effect);
};

/** Returns the outstanding model call. @throws Obstacle if it is not the only outstanding effect */
export const soleCall = ({ state }: Drive, index: number): CallLlm => {
  const out = outstanding(state);
  const [first] = out;
  if (first?.type === "callLlm" && out.length === 1) return first;
  const types = out.length === 0 ? "nothing" : out.map(({ type }) => type).join(", ");
  throw difference(index, `a model call should be out, and nothing else; out is ${types} (${phaseOf(state)})`);
};

/** Returns the outstanding tool calls, in the order of the reply that requested them. */
export const toolCallsOut = (driven: Drive): readonly CallTool[] =>
  outstanding(driven.state)
    .filter((effect) => effect.type === "callTool")
    .toSorted((left, right) => left.position - right.position);

/** The amount of replayed work, counted at the machine. */
export interface Figures {
  readonly conversations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly userMessages: number;
  /** The number of messages at the end of the conversations, the system message included. */
  readonly messagesFinal: number;
  /** The number of messages in all prompts. */
  readonly messagesSent: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

/** The figures of an empty replay. */
export const noFigures: Figures = {
  conversations: 0,
  llmCalls: 0,
  toolCalls: 0,
  toolResults: 0,
  userMessages: 0,
  messagesFinal: 0,
  messagesSent: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
};

/** Adds the figures of two replays. */
export const addFigures = (left: Figures, right: Figures): Figures => {
  // `Object.keys` returns exactly the names of the figures.
  const names = Object.keys(noFigures) as (keyof Figures)[];
  return { ...noFigures, ...Object.fromEntries(names.map((name) => [name, left[name] + right[name]])) };
};

/** Counts a replay at the machine. `given` are the roles of the messages that the run did not produce. */
export const figuresOf = ({ state, entries, calls }: Drive, given: readonly string[]): Figures => {
  const { conversation, open, usage } = state.context;
  const messages = messagesOf(state);
  const count = (role: string): number =>
    messages.filter((message) => message.role === role).length - given.filter((each) => each === role).length;
  const lengths = new Map(calls.map(({ id, messages: { length } }) => [id, length]));
  return {
    conversations: 1,
    llmCalls: usage.total.calls,
    toolCalls: toArray(conversation.turns).reduce((sum, turn) => sum + turn.toolCalls, open?.toolCalls ?? 0),
    toolResults: count("tool"),
    userMessages: count("user"),
    messagesFinal: messages.length + (conversation.system === null ? 0 : 1),
    messagesSent: entries.reduce(
      (sum, { event }) => sum + (event.type === "llm.completed" ? (lengths.get(event.effectId) ?? 0) : 0),
      0,
    ),
    promptTokens: usage.total.inputTokens.sum,
    completionTokens: usage.total.outputTokens.sum,
    totalTokens: usage.total.totalTokens.sum,
  };
};
