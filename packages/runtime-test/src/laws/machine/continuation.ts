import {
  type AskReceived,
  type CallLlm,
  type ConversationMachine,
  conversationMachine,
  type Event,
  type MachineOptions,
  type Message,
  outstanding,
  type ReplyDraft,
  type State,
  toArray,
} from "@colloquy/machine";
import { type InterruptedTurns, keepAll } from "@colloquy/machine/policies";
import { effectsOf, type HandledStep, realSubject, statesOf, type Subject } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { saidUnits, wholeOf, withoutLeftOut } from "../evidence/said-units.ts";
import {
  ofAsk,
  ofDraft,
  ofPartial,
  ofReply,
  ofSeed,
  partsOf,
  type Utterance,
  utterance,
  utteranceOf,
} from "../evidence/utterance.ts";
import { deliveredBy } from "./asks.ts";
import { type MachineLaw, namedSteps, onceFor, traceFor } from "./machine-law.ts";

/**
 * Checks M9: a conversation can continue after any end. Under keep-all, the prompt of the next ask is the system
 * message, the path so far, and the ask. If interrupted turns are omitted, exactly those are missing, except for pinned
 * messages in them and the questions that those answer.
 */
export const continuation: MachineLaw = (options, schedule, subject = realSubject) => {
  const closed = statesOf(traceFor(options, schedule, subject)).filter(({ context }) => context.open === null);
  for (const interrupted of ["keep", "omit"] as const) {
    const machine = machinesKeepingAll(options)[interrupted];
    for (const state of closed) {
      const name = `the prompt of the next ask after entry ${state.context.seq}, interrupted turns ${interrupted}`;
      const before = wholeOf(withoutLeftOut(saidUnits(state), { interrupted })).map(seen);
      const got = callFor(subject, machine, state, name).messages.map(seen);
      // A queued ask opened first; its messages follow the same beginning.
      if (state.context.waking === null) requireSame("M9", name, [...before, { role: "user", text: newText }], got);
      else requireSame("M9", name, before, got.slice(0, before.length));
    }
  }
};

/**
 * Checks M9 for the whole tree: each message is in the thread once, whatever its outcome. The thread contains no other
 * messages except those marked as synthesised. The only allowed change is that a message's text becomes well-formed.
 * Messages are compared as a multiset, without ids. The comparison ends at a truncated turn, and at an open turn that
 * stays in the original thread of a fork.
 */
export const nothingLost: MachineLaw = (...given) => {
  const said = (traceFor(...given).started.entry.event.seed ?? []).map(ofSeed);
  for (const step of namedSteps(...given)) {
    const { event, before, transition, name } = step;
    if (event.type === "answer.truncated" || (event.type === "thread.forked" && before.context.open !== null)) return;
    said.push(...saidBy(step), ...deliveredBy(step).flatMap(ofAsk));
    requireSame("M9", `what was said by ${name}`, said.toSorted(), heldBy(transition.state).toSorted());
  }
};

const newText = "And what follows from that?";

const machinesKeepingAll = onceFor((options) => ({
  keep: keepingAll(options, "keep"),
  omit: keepingAll(options, "omit"),
}));

/** Makes a machine without anything that could prevent the next call. */
const keepingAll = (options: MachineOptions, interrupted: InterruptedTurns): ConversationMachine => {
  const { limits: _, budget: __, ...others } = options;
  return conversationMachine({ ...others, policy: keepAll(), interrupted });
};

const callFor = (subject: Subject, machine: ConversationMachine, state: State, name: string): CallLlm => {
  const { waking, queue, updatedAt: at } = state.context;
  const timer = subject.outstanding(state).find(({ type }) => type === "startTimer");
  const event: Event =
    waking === null || timer === undefined
      ? { type: "ask.received", at, askId: `after ${state.context.seq}`, input: newText }
      : { type: "timer.fired", at, effectId: timer.id };
  const unlimited = { ...state, context: { ...state.context, queue: queue.map(({ limits: _, ...ask }) => ask) } };
  const next = subject.transition(machine, unlimited, event);
  if (!next.handled) throw new LawBroken("M9", `${name}: the ask was refused: ${next.refusal.reason}`);
  // The policy keep-all requests no summaries.
  const [call] = effectsOf(next, "callLlm");
  if (call === undefined) throw new LawBroken("M9", `${name}: no model is called`);
  return call;
};

/** Returns a message without the members that the thread adds; a message of the new ask is reduced to its text. */
const seen = ({ role, parts }: Message): object => {
  const [only] = parts;
  return role === "user" && parts.length === 1 && only?.type === "text" ? { role, text: only.text } : { role, parts };
};

const saidBy = (step: HandledStep): readonly Utterance[] => {
  const { event, before, transition } = step;
  const decided = transition.entry.decided ?? {};
  if (isOfSummary(step)) return [];
  switch (event.type) {
    case "ask.received":
      return saidByAsk(step, event);
    case "timer.fired":
      if (before.context.open === null) return before.context.queue.slice(0, decided.opens ?? 1).flatMap(ofAsk);
      return decided.limit === undefined ? [] : shownAtEnd(step, undefined);
    case "cancel.requested":
      return transition.state.context.open === null ? shownAtEnd(step, event.partial) : [];
    case "llm.completed":
      return [ofReply(event.reply)];
    case "llm.failed":
      return decided.retry === undefined ? shownAtEnd(step, event.partial) : [];
    case "tool.completed":
    case "tool.failed":
      return [utterance("tool", partsOf(event.content ?? []))];
    case "message.appended":
      return [ofDraft(event.message)];
    case "round.appended":
      return [ofReply(event.reply), ...event.results.map(({ content }) => utterance("tool", partsOf(content ?? [])))];
    case "turn.added":
      return event.messages.map(ofSeed);
    default:
      return [];
  }
};

/** Returns what an ask adds. A queued or joining one adds nothing yet; an interrupting one ends the running call. */
const saidByAsk = (step: HandledStep, ask: AskReceived): readonly Utterance[] => {
  const { queued, joins, interrupts } = step.transition.entry.decided ?? {};
  if (interrupts === true) return shownAtEnd(step, undefined);
  return queued === undefined && joins === undefined ? ofAsk(ask) : [];
};

/** Returns whether an event answers a summary call. A summary is not a message of the conversation. */
const isOfSummary = ({ event, before }: HandledStep): boolean =>
  (event.type === "llm.completed" || event.type === "llm.failed") &&
  outstanding(before).some(
    (effect) => effect.id === event.effectId && effect.type === "callLlm" && effect.purpose === "summary",
  );

/** Returns the shown part of a stopped call, from the last event that reported it. */
const shownAtEnd = ({ before }: HandledStep, partial: ReplyDraft | undefined): readonly Utterance[] => {
  const stage = before.context.open?.stage;
  return stage?.type === "responding" ? ofPartial(partial ?? stage.call.partial ?? undefined) : [];
};

const heldBy = ({ context: { conversation, open } }: State): readonly Utterance[] => {
  const turns = toArray(conversation.turns);
  const running = open?.stage.type === "running" ? open.stage.calls.flatMap(({ result }) => result ?? []) : [];
  const messages: readonly Message[] = [
    ...conversation.seed,
    ...turns.flatMap((turn) => toArray(turn.messages)),
    ...turns.flatMap(({ refusedOutputs = [] }) => refusedOutputs.map(({ reply }) => reply)),
    ...conversation.appended,
    ...(open === null ? [] : [...toArray(open.messages), ...running, ...open.waiting]),
  ];
  return messages.filter(({ synthesised }) => synthesised !== true).map(utteranceOf);
};
