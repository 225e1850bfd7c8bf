import {
  ConfigurationError,
  type ConversationMachine,
  conversationMachine,
  type ContextUnfit,
  type Event,
  type Message,
  outstanding,
  type State,
  toArray,
} from "@colloquy/machine";
import type { Policy } from "@colloquy/machine/policies";
import { handledSteps, statesOf } from "../../arbitraries/trace.ts";
import { preview } from "../evidence/difference.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { calibrated, type Look, lookNamed, type PolicyLaw, type PolicyRun } from "./policy-run.ts";
import {
  joiningMessages,
  messagesIn,
  refusedMessages,
  saidUnits,
  sumOfTokens,
  tokensOf,
  withoutLeftOut,
} from "../evidence/said-units.ts";
import { withQuestions } from "../evidence/questions.ts";

/**
 * Checks P4: a prompt fits, or reports that it does not. Every call fits into the room by an independent count. A turn
 * whose prompt does not fit ends `unfit`, with correct numbers, before any call is requested; or it waits for a
 * summary. The wait ends whatever the summary's outcome, and also without one. Every prompt reports correctly whether
 * it fits.
 */
export const fitsOrSaysSo: PolicyLaw = (run) => {
  const { views, counter } = run;
  for (const { looks, calibration } of views) {
    for (const look of looks) {
      const { tokens, available, fits, messages } = look.prompt;
      const counted = tokensOf(counter, messages);
      const room = roomIn(look, calibration);
      requireSame("P4", `tokens of ${lookNamed(look)}`, counted, tokens);
      requireSame("P4", `the room of ${lookNamed(look)}`, room, available);
      requireSame(
        "P4",
        `whether it fits: ${lookNamed(look)}`,
        room === null || counted === null || counted <= room,
        fits,
      );
    }
  }
  requireCallsFit(run);
  const waiting = statesOf(run.trace).filter(isWaiting);
  if (waiting.length === 0) return;
  const machine = conversationMachine(run.options);
  for (const state of waiting) requireWaitEnds(run, machine, state);
};

/**
 * Checks P7: zero means zero, and invalid numbers are refused. With a budget of zero tokens nothing is sent. An invalid
 * budget is refused when it is configured, with an error that names it.
 */
export const zeroMeansZero: PolicyLaw = ({ options, policy, counter, trace, views, subject }) => {
  if (!withBudgetsChecked.has(policy)) {
    for (const budget of badBudgets) {
      const { tokens, reserve } = budget;
      refused(`a budget of ${tokens} with a reserve of ${reserve}`, () => conversationMachine({ ...options, budget }));
    }
    withBudgetsChecked.add(policy);
  }
  const least = views.flatMap(({ looks }) => looks).find(({ budget }) => budget?.tokens === 0);
  const nothing = least?.machine ?? conversationMachine({ ...options, budget: { tokens: 0, reserve: 0 } });
  const aboutPrompts = handledSteps(trace).filter(
    ({ transition: { entry, effects } }) =>
      entry.decided?.unfit !== undefined || effects.some(({ type }) => type === "callLlm"),
  );
  for (const { event, before } of aboutPrompts.slice(-promptsWithoutRoom)) {
    const next = subject.transition(nothing, before, event);
    for (const effect of next.handled ? next.effects : []) {
      if (effect.type !== "callLlm" || effect.purpose !== "answer") continue;
      const tokens = tokensOf(counter, effect.messages);
      if (tokens !== null && tokens > 0)
        throw new LawBroken("P7", `${effect.id} carries ${tokens} tokens within a budget of nothing`);
    }
  }
};

const promptsWithoutRoom = 3;

/** The policies with which invalid budgets are known to be refused, whatever the conversation. */
const withBudgetsChecked = new WeakSet<Policy>();

/** A policy whose options are invalid, how it is built, and the value that the error must name. */
export interface BadOptions {
  readonly what: string;
  readonly build: () => unknown;
  readonly value: string;
}

/**
 * Checks P7 for the options of policies: an invalid option is refused when the policy is built, with an error that
 * names the value.
 */
export const badOptionsAreRefused = (cases: readonly BadOptions[]): void => {
  for (const { what, build, value } of cases) {
    const message = refused(what, build);
    if (!message.includes(value)) throw new LawBroken("P7", `${what} is refused without naming ${value}: ${message}`);
  }
};

const badBudgets = [
  { tokens: -1, reserve: 0 },
  { tokens: 0.5, reserve: 0 },
  { tokens: Number.NaN, reserve: 0 },
  { tokens: Number.POSITIVE_INFINITY, reserve: 0 },
  { tokens: 10, reserve: -1 },
  { tokens: 10, reserve: 11 },
];

const refused = (what: string, build: () => unknown): string => {
  try {
    build();
  } catch (thrown) {
    if (thrown instanceof ConfigurationError) return thrown.message;
    throw new LawBroken("P7", `${what} is refused with ${preview(String(thrown))}, no ConfigurationError`, {
      cause: thrown,
    });
  }
  throw new LawBroken("P7", `${what} is taken`);
};

/** Returns the available tokens, as the counter counts them; null if unlimited. */
const roomOf = (budget: PolicyRun["options"]["budget"], calibration: number): number | null =>
  budget === null || budget === undefined ? null : Math.floor((budget.tokens - budget.reserve) / calibration);

/** Returns the available tokens in a state. They are fewer after a server refused a prompt as too long. */
export const roomIn = ({ budget, state }: Pick<Look, "budget" | "state">, calibration: number): number | null => {
  const room = roomOf(budget, calibration);
  const learned = state.context.room?.tokens ?? null;
  return room === null || learned === null ? (room ?? learned) : Math.min(room, learned);
};

const requireCallsFit = ({ options, counter, trace }: PolicyRun): void => {
  const { budget = null, policy } = options;
  const calibrations = calibrated(trace, options).slice(1);
  for (const [index, { event, before, transition }] of handledSteps(trace).entries()) {
    const room = roomOf(budget, calibrations[index]?.decidedWith ?? 1);
    if (room === null) continue;
    const name = `entry ${transition.entry.seq} (${event.type})`;
    const { unfit, counted } = transition.entry.decided ?? {};
    for (const effect of transition.effects) {
      if (effect.type !== "callLlm") continue;
      const tokens = tokensOf(counter, effect.messages);
      const most = effect.purpose === "answer" ? room : (policy?.summariser?.requestTokens ?? room);
      if (tokens !== null && tokens > most)
        throw new LawBroken("P4", `${effect.id} carries ${tokens} tokens, and there is room for ${most}`);
      if (effect.purpose === "summary") continue;
      if (counted !== undefined) requireSame("P4", `what ${name} counted`, tokens, counted);
      if (unfit !== undefined) throw new LawBroken("P4", `${name} found the prompt unfit, and sent it`);
    }
    if (unfit !== undefined) requireTrue({ counter, before, state: transition.state, unfit, room, options, name });
  }
};

/** Checks the numbers of a turn that ended because its prompt did not fit. */
const requireTrue = (ended: {
  readonly counter: PolicyRun["counter"];
  readonly before: State;
  readonly state: State;
  readonly unfit: ContextUnfit;
  readonly room: number;
  readonly options: PolicyRun["options"];
  readonly name: string;
}): void => {
  const { counter, before, state, unfit, room, options, name } = ended;
  const { budget } = options;
  const turn = toArray(state.context.conversation.turns).at(-1);
  requireSame("P4", `the outcome of ${name}`, { status: "failed", unfit }, turn?.outcome);
  if (unfit.tokens <= room) throw new LawBroken("P4", `${name}: ${unfit.tokens} tokens do fit into a room of ${room}`);
  // The turn has ended, so its messages are the newest closed units.
  const all = saidUnits(state);
  const open = all.closed.filter((unit) => unit.turn === turn?.number);
  const said = withoutLeftOut(all, options);
  const earlier = said.closed.filter((unit) => unit.turn !== turn?.number);
  const pinned = new Set(earlier.filter((unit) => unit.pinned === true));
  const led = withQuestions(earlier, open, pinned);
  const kept = earlier.filter((unit) => led.has(unit));
  // Joining asks would have been in that prompt, and were requeued. Refused answers and their repair requests were set
  // aside when the turn ended.
  const aside = turn === undefined ? [] : refusedMessages(turn);
  const shown = [...messagesIn(open), ...aside, ...joiningMessages(before.context.open)];
  const fixed = [...(all.system === null ? [] : [all.system]), ...messagesIn(kept), ...shown];
  const sizes = shown.map((message) => sizeOf(counter, message));
  requireSame(
    "P4",
    `the numbers of ${name}`,
    {
      available: room,
      budget: budget?.tokens,
      reserve: budget?.reserve,
      fixed: tokensOf(counter, fixed) ?? 0,
      largest: sizes.length === 0 ? null : Math.max(...sizes),
    },
    {
      available: unfit.available,
      budget: unfit.budget,
      reserve: unfit.reserve,
      fixed: unfit.fixed,
      largest: unfit.largest?.tokens ?? null,
    },
  );
};

const sizeOf = (counter: PolicyRun["counter"], message: Message): number =>
  sumOfTokens(counter, [message]) - counter.perPrompt;

/**
 * Checks that a waiting call continues when the timer of the wait fires, and after any outcome of the summary. It may
 * keep waiting only if a usable summary is followed by a request for another one, under the same timer.
 */
const requireWaitEnds = ({ subject }: PolicyRun, machine: ConversationMachine, state: State): void => {
  const name = `the call that waits after entry ${state.context.seq}`;
  const out = outstanding(state);
  const summary = out.find((effect) => effect.type === "callLlm");
  const timer = out.find((effect) => effect.type === "startTimer" && effect.purpose === "summary");
  if (timer?.type !== "startTimer") throw new LawBroken("P4", `${name} waits without an end: no timer bounds it`);
  const at = state.context.updatedAt;
  const events: Event[] = [{ type: "timer.fired", at: timer.dueAt, effectId: timer.id }];
  if (summary !== undefined) events.push(...outcomesOf(summary.id, at));
  for (const event of events) {
    const next = subject.transition(machine, state, event);
    if (!next.handled || (isWaiting(next.state) && !waitsForAnother(next.state, timer.id, summary?.id)))
      throw new LawBroken("P4", `${name} still waits after ${preview(event)}`);
  }
};

/** Returns whether the call waits for another summary under its first timer, so that the wait gets no longer. */
const waitsForAnother = (state: State, timer: string, summary: string | undefined): boolean => {
  const out = outstanding(state);
  const another = out.find((effect) => effect.type === "callLlm");
  return another !== undefined && another.id !== summary && out.some(({ id }) => id === timer);
};

const outcomesOf = (effectId: string, at: number): readonly Event[] => [
  { type: "llm.completed", at, effectId, reply: { content: "They spoke." }, finishReason: "stop" },
  { type: "llm.completed", at, effectId, reply: {}, finishReason: null },
  { type: "llm.completed", at, effectId, reply: { content: "They spoke. ".repeat(5_000) }, finishReason: "length" },
  { type: "llm.failed", at, effectId, failure: { kind: "unknown", message: "", retryable: true } },
];

const isWaiting = ({ context: { open } }: State): boolean => open?.stage.type === "compacting";
