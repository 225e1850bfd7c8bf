import {
  type ConversationMachine,
  conversationMachine,
  type Message,
  messagesOf,
  type State,
  type Transition,
} from "@colloquy/machine";
import { checkPrompt, keepAll, lastTurns } from "@colloquy/machine/policies";
import { hostilePolicies, whimsical } from "../../arbitraries/policy.ts";
import { answeringCallOf, effectsOf, realSubject, statesOf, type Subject } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, machinesFor, traceFor } from "./machine-law.ts";
import { openMessages } from "../evidence/said-units.ts";
import { problemOfPrompt } from "../evidence/well-formed.ts";
import type { Explanation } from "@colloquy/machine/inspect";

/**
 * Checks M10: every prompt is well-formed: the prompt of each `callLlm`, and the result of `promptOf` in every reached
 * state. This holds under the machine's own policy and under others, including hostile ones. The whole open turn is at
 * the end. Each state is checked with a few of the other policies, and each policy with many states.
 */
export const wellFormedPrompts: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  for (const { transition } of trace.steps) requireCarried(transition);
  const own = machinesFor(options).machine;
  for (const [index, state] of statesOf(trace).entries()) {
    const { seq, open } = state.context;
    for (const effect of subject.outstanding(state))
      if (effect.type === "callLlm") requireWellFormed(effect.messages, `the call that is out after entry ${seq}`);
    for (const machine of [own, ...othersFor(index + schedule.moves.length)]) {
      const { messages, cut } = subject.promptOf(machine, state);
      const name = `the prompt after entry ${seq} as ${cut.policy} cuts it`;
      // Between turns the prompt may be empty, because its question comes with the next ask.
      if (open !== null || messages.length > 0) requireWellFormed(messages, name);
      requireEnd(messages, state, name);
    }
  }
};

/**
 * Checks that each call contains the whole open turn at its end, and at least one message of the thread. The thread's
 * system message comes first, unless the cut omits it.
 */
const requireCarried = (transition: Transition): void => {
  for (const { id, messages } of effectsOf(transition, "callLlm")) requireWellFormed(messages, `the prompt of ${id}`);
  const call = answeringCallOf(transition);
  if (call === undefined) return;
  const { state } = transition;
  requireEnd(call.messages, state, `the prompt of ${call.id}`);
  const { open, conversation } = state.context;
  const isOmitted = open?.stage.type === "responding" && open.stage.call.cut.system === "omit";
  const system = isOmitted ? undefined : conversation.system?.id;
  if (call.messages.every(({ id }) => id === system) && messagesOf(state).length > 0)
    throw new LawBroken("M10", `the prompt of ${call.id} shows nothing of what was said`);
  if (system !== undefined) requireSame("M10", `the system message of ${call.id}`, system, call.messages[0]?.id);
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

const requireEnd = (messages: readonly Message[], state: State, name: string): void => {
  const open = openMessages(state).map(({ id }) => id);
  const end = messages.slice(messages.length - open.length).map(({ id }) => id);
  requireSame("M10", `the open turn at the end of ${name}`, open, end);
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
  const policies = [keepAll(), lastTurns(0), lastTurns(2), whimsical(1), whimsical(2), ...hostilePolicies()];
  return policies.flatMap((policy) =>
    (["keep", "omit"] as const).map((interrupted) => conversationMachine({ policy, interrupted })),
  );
};

/**
 * Checks that `explain` agrees with the next prompt. Its units and its summary, joined, are the prompt, message by
 * message. Together the units hold the whole thread. Each "whole", "shrunk", "summary" and "out" is correct and has a
 * reason. The tokens of the sent parts add up to the prompt's tokens.
 */
export const lawExplained = (
  machine: ConversationMachine,
  state: State,
  subject: Pick<Subject, "explain" | "promptOf"> = realSubject,
): void => {
  const explanation = subject.explain(machine, state);
  const { messages, tokens, available, fits } = subject.promptOf(machine, state);
  requireSame(law, "what is explained as sent", messages, sentBy(explanation));
  const { tokens: counted, available: room, fits: fitting } = explanation;
  requireSame(law, "the figures", { tokens, available, fits }, { tokens: counted, available: room, fits: fitting });
  requireWholeThread(explanation, state);
  for (const unit of explanation.units) requireWord(unit, explanation);
  requireSum(explanation);
};

export const explaining: MachineLaw = (options, schedule, subject = realSubject) => {
  const { started, steps } = traceFor(options, schedule, subject);
  lawExplained(machinesFor(options).machine, steps.at(-1)?.transition.state ?? started.state, subject);
};

const law = "explain";

type Unit = Explanation["units"][number];

/** Returns the units and the summary that are sent according to the explanation, in the order of the prompt. */
const sentBy = ({ units, summary }: Explanation) => {
  const [system, rest] = [units.filter(isSystem), units.filter((unit) => !isSystem(unit))];
  return [
    ...system.flatMap(({ sent }) => sent),
    ...(summary === null ? [] : [summary.message]),
    ...rest.flatMap(({ sent }) => sent),
  ];
};

const isSystem = ({ kind }: Unit): boolean => kind === "system";

const requireWholeThread = ({ units }: Explanation, state: State): void => {
  const said = messagesOf(state).map(({ id }) => id);
  const ids = new Set(said);
  const all = units.filter((unit) => !isSystem(unit)).flatMap(({ messages }) => messages.map(({ id }) => id));
  // Results of running calls are synthesised, and not yet part of the thread.
  const held = all.filter((id) => ids.has(id));
  requireSame(law, "the messages that the units hold", said, held);
};

const requireWord = ({ id, shown, sent, messages, why, rule }: Unit, { summary }: Explanation): void => {
  const isWhole = sent.length === messages.length && sent.every((message, index) => message === messages[index]);
  const is = isWhole ? "whole" : sent.length > 0 ? "shrunk" : rule === "summary" ? "summary" : "out";
  if (shown !== is) throw new LawBroken(law, `unit ${id} is said to be shown "${shown}", and is "${is}"`);
  if (rule === "summary" && summary === null)
    throw new LawBroken(law, `unit ${id} is said to be in a summary, and there is none`);
  if (why === "") throw new LawBroken(law, `why unit ${id} is ${shown} is not said`);
};

const requireSum = ({ units, summary, tokens, besideTokens }: Explanation): void => {
  if (tokens === null) return;
  const sent = units.reduce((sum, { sentTokens }) => sum + (sentTokens ?? Number.NaN), summary?.tokens ?? 0);
  if (sent + (besideTokens ?? Number.NaN) !== tokens)
    throw new LawBroken(law, `${sent} tokens of units and ${besideTokens} beside them are said to be ${tokens}`);
};
