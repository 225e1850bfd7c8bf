// The recorded conversations, and variants of them: with pinned messages, with a cancelled turn, with summaries.
import {
  conversationMachine,
  type ConversationMachine,
  type Entry,
  type Event,
  type LaterEntry,
  messagesOf,
  outstanding,
  promptOf,
  start,
  type Started,
  type State,
  transition,
} from "@colloquy/machine";
import {
  compactTurns,
  countPrompt,
  estimateCounter,
  type InterruptedTurns,
  type Policy,
  summariseTurns,
} from "@colloquy/machine/policies";
import { recordingMachine, type RecordedCase, replayCase, type CaseFile } from "@colloquy/runtime-test/recordings";

import type { Random } from "../kit/random.ts";

/** A thread, and the events that a machine with a policy gets from then on. */
export interface Conversation {
  readonly id: string;
  /** How it differs from the recording. */
  readonly variant: Variant;
  readonly started: Started;
  readonly events: readonly Event[];
  readonly interrupted: InterruptedTurns;
}

export type Variant = "as recorded" | "pinned" | "cancelled" | "cancelled, left out" | "summarised" | "compacted";

/** A recording as events. If no thread can contain it, its beginning that can be expressed. */
export interface Recorded {
  readonly id: string;
  readonly started: Started;
  readonly events: readonly Event[];
  readonly tokens: number;
}

export const recordedIn = (recorded: RecordedCase, { common }: Pick<CaseFile, "common">): Recorded | null => {
  const { entries } = replayCase(recorded, { common });
  const [first] = entries;
  if (first?.event.type !== "thread.started") return null;
  const { configuration: _, ...thread } = first.event;
  const started = start(recordingMachine(), thread);
  const events = entries.filter(isLater).map(({ event }) => withoutDigest(event));
  const whole = promptOf(recordingMachine(), stateBehind(recordingMachine(), started.state, events)).messages;
  return { id: recorded.id, started, events, tokens: countPrompt(estimateCounter, whole) };
};

/** Returns a conversation as recorded, half of the time; else a random variant. */
export const drawn = (recorded: Recorded, random: Random): Conversation => {
  const variant = random.percent(50) ? "as recorded" : (random.pick(variants) ?? "as recorded");
  const { id, started, events } = recorded;
  const interrupted = variant === "cancelled, left out" ? "omit" : "keep";
  const at = variant === "as recorded" ? 0 : random.integer(Math.min(1, events.length), events.length);
  const machine = machineOf(variant);
  const before = stateBehind(machine, started.state, events.slice(0, at));
  const rest = events.slice(at);
  const changes: { readonly [Each in Variant]?: Change } = {
    pinned: pinned(before, random),
    cancelled,
    "cancelled, left out": cancelled,
  };
  const [first, then = rest] = changes[variant] ?? [[]];
  const state = stateBehind(machine, before, first);
  return { id, variant, started: { ...started, state }, events: then, interrupted };
};

const variants: readonly Variant[] = ["pinned", "cancelled", "cancelled, left out", "summarised", "compacted"];

/** The events of a thread before the policy takes over, and those after; by default, the recorded ones. */
type Change = readonly [before: readonly Event[], then?: readonly Event[]];

const pinned = (state: State, random: Random): Change => {
  const messages = [random.pick(messagesOf(state)), random.pick(messagesOf(state))];
  return [messages.flatMap((message) => (message === undefined ? [] : pin(message.id)))];
};

const pin = (message: string): Event => ({ type: "message.pinned", at: 1, message, pinned: true });

/** Cancels its open turn, if there is one, and asks the next question. */
const cancelled: Change = [
  [{ type: "cancel.requested", at: 1, reason: "enough" }],
  [{ type: "ask.received", at: 2, askId: "go-on", input: "Please go on." }],
];

/** Returns the machine of a thread before the policy takes over. */
const machineOf = (variant: Variant): ConversationMachine => {
  const policies: { readonly [variant: string]: Policy } = {
    summarised: summariseTurns(),
    compacted: compactTurns({ keepTurns: 1, at: 0 }),
  };
  const policy = policies[variant];
  if (policy === undefined) return recordingMachine();
  const budget = { tokens: 10_000_000, reserve: 0 };
  return conversationMachine({ policy, budget, unknownTool: "ask", interrupted: "keep", retry: { attempts: 1 } });
};

const isLater = (entry: Entry): entry is LaterEntry => entry.event.type !== "thread.started";

/** Removes the digest, as the prompt is another. */
const withoutDigest = (event: Event): Event => {
  if (event.type !== "llm.completed") return event;
  const { promptDigest: _, ...rest } = event;
  return rest;
};

/** Returns the state after some events. An event that the thread cannot take is refused, and changes nothing. */
const stateBehind = (machine: ConversationMachine, before: State, events: readonly Event[]): State => {
  let state = before;
  const send = (event: Event): State => (state = transition(machine, state, event).state);
  for (const event of events) withSummaries(send(event), send);
  return state;
};

export const withSummaries = (before: State, send: (event: Event) => State): void => {
  for (let state = before; ;) {
    const summary = outstanding(state).find((effect) => effect.type === "callLlm" && effect.purpose === "summary");
    if (summary === undefined) return;
    const content = `A summary of ${"all that was said ".repeat(1 + (state.context.summaries % 4))}so far.`;
    state = send({
      type: "llm.completed",
      at: state.context.updatedAt,
      effectId: summary.id,
      reply: { content },
      finishReason: "stop",
    });
  }
};
