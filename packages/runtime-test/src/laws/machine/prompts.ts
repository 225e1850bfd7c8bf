import {
  type CallLlm,
  type ConversationMachine,
  conversationMachine,
  type Effect,
  type Message,
  messagesOf,
  type State,
  toArray,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import { checkPrompt, type InterruptedTurns, keepAll, lastTurns, type Policy } from "@colloquy/machine/policies";
import { hostilePolicies, whimsical } from "../../arbitraries/policy.ts";
import { realSubject } from "../../arbitraries/subject.ts";
import { statesOf, type Trace } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, machinesFor, traceFor } from "./machine-law.ts";
import { joiningMessages } from "../evidence/said-units.ts";

/**
 * Checks M10: every prompt is well-formed: the prompt of each `callLlm`, and the result of `promptOf` in every reached
 * state. This holds under the machine's own policy and under others, including hostile ones. The whole open turn is at
 * the end. Each state is checked with a few of the other policies, and each policy with many states.
 */
export const wellFormedPrompts: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  requireCarried(trace);
  const own = machinesFor(options).machine;
  for (const [index, state] of statesOf(trace).entries()) {
    for (const effect of subject.outstanding(state)) {
      if (effect.type === "callLlm")
        requireWellFormed(effect.messages, `the call that is out after entry ${state.context.seq}`);
    }
    for (const machine of [own, ...othersFor(index + schedule.moves.length)]) {
      const { messages, cut } = subject.promptOf(machine, state);
      const name = `the prompt after entry ${state.context.seq} as ${cut.policy} cuts it`;
      // Between turns the prompt may be empty, because its question comes with the next ask.
      if (state.context.open !== null || messages.length > 0) requireWellFormed(messages, name);
      requireEnd(messages, openMessages(state), name);
    }
  }
};

/**
 * Describes the first problem of a prompt; null if it is well-formed. Slower than `checkPrompt`, and written
 * independently of it.
 */
export const problemOfPrompt = (messages: readonly Message[]): string | null => {
  if (messages.length === 0) return "it is empty";
  const expected: (string | null)[] = messages.map(() => null);
  for (const [index, message] of messages.entries()) {
    const results = message.parts.filter(({ type }) => type === "toolResult");
    if (results.length !== (message.role === "tool" ? 1 : 0))
      return `message ${index} (${message.role}) has ${results.length} results`;
    for (const [position, call] of toolCallsOf(message).entries()) {
      if (message.role !== "assistant") return `message ${index} (${message.role}) asks for a tool`;
      const place = index + 1 + position;
      if (place >= messages.length) return `nothing answers call ${call.callId} of message ${index}`;
      if (expected[place] !== null) return `message ${index} stands inside a round`;
      expected[place] = call.callId;
    }
  }
  for (const [index, message] of messages.entries()) {
    const callId = toolResultOf(message)?.callId ?? null;
    if (callId !== expected[index])
      return `message ${index} is the result of ${String(callId)}, where that of ${String(expected[index])} should be`;
  }
  return null;
};

/**
 * Checks that each call contains the whole open turn at its end, and at least one message of the thread. The thread's
 * system message comes first, unless the cut omits it.
 */
const requireCarried = (trace: Trace): void => {
  for (const { transition } of trace.steps) {
    const effects: readonly Effect[] = transition.effects;
    const calls = effects.filter((effect): effect is CallLlm => effect.type === "callLlm");
    for (const { id, messages } of calls) requireWellFormed(messages, `the prompt of ${id}`);
    const call = calls.find(({ purpose }) => purpose === "answer");
    if (call === undefined) continue;
    const name = `the prompt of ${call.id}`;
    requireEnd(call.messages, openMessages(transition.state), name);
    const { open, conversation } = transition.state.context;
    const omitted = open?.stage.type === "responding" && open.stage.call.cut.system === "omit";
    const system = omitted ? null : conversation.system;
    const shown = call.messages.filter(({ id }) => id !== system?.id);
    if (shown.length === 0 && messagesOf(transition.state).length > 0) {
      throw new LawBroken("M10", `${name} shows nothing of what was said`);
    }
    requireSame(
      "M10",
      `the system message of ${call.id}`,
      system?.id,
      system === null ? undefined : call.messages[0]?.id,
    );
  }
};

const requireWellFormed = (messages: readonly Message[], name: string): void => {
  const problem = problemOfPrompt(messages);
  if (problem !== null) throw new LawBroken("M10", `${name} is not well-formed: ${problem}`);
  const found = checkPrompt(messages);
  if (found !== null) throw new LawBroken("M10", `${name} is well-formed, but checkPrompt says: ${found.reason}`);
  const later = messages.findIndex(({ id }, index) => index > 0 && systemId.test(id));
  if (later > 0) throw new LawBroken("M10", `${name} has the thread's system message at ${later}`);
  const ids = new Set(messages.map(({ id }) => id));
  if (ids.size < messages.length) throw new LawBroken("M10", `${name} shows a message twice`);
};

/** Matches the ids of the thread's own system messages; appended system messages have ids of their turn. */
const systemId = /^s\d+$/;

const requireEnd = (messages: readonly Message[], end: readonly { readonly id: string }[], name: string): void => {
  const shown = messages.slice(messages.length - end.length).map(({ id }) => id);
  requireSame(
    "M10",
    `the open turn at the end of ${name}`,
    end.map(({ id }) => id),
    shown,
  );
};

/**
 * Returns the messages of the open turn, including those of running tools and joining asks. Between turns, returns the
 * appended messages that wait for the next turn.
 */
const openMessages = ({ context: { open, conversation } }: State): readonly { readonly id: string }[] => {
  if (open === null) return conversation.appended;
  const results = open.stage.type === "running" ? open.stage.calls.map(({ callId }) => ({ id: callId })) : [];
  return [...toArray(open.messages), ...results, ...open.waiting, ...joiningMessages(open)];
};

/** Returns a few of the other policies, each in a machine; `index` selects which. */
export const othersFor = (index: number): readonly ConversationMachine[] => {
  others ??= machinesOfAllPolicies();
  const first = (index * othersAtOnce) % others.length;
  return others.slice(first, first + othersAtOnce);
};

const othersAtOnce = 3;

/** Built once, because they are the same in every run. */
let others: readonly ConversationMachine[] | undefined;

const machinesOfAllPolicies = (): readonly ConversationMachine[] => {
  const policies: readonly Policy[] = [
    keepAll(),
    lastTurns(0),
    lastTurns(2),
    whimsical(1),
    whimsical(2),
    ...hostilePolicies(),
  ];
  const interrupted: readonly InterruptedTurns[] = ["keep", "omit"];
  return policies.flatMap((policy) =>
    interrupted.map((choice) => conversationMachine({ policy, interrupted: choice })),
  );
};
