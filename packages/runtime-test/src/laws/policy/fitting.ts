import {
  ConfigurationError,
  type ContextUnfit,
  type ConversationMachine,
  conversationMachine,
  type Event,
  outstanding,
  type State,
  toArray,
} from "@colloquy/machine";
import { type Policy, unitsOf } from "@colloquy/machine/policies";
import { answeringCallOf, effectsOf, type HandledStep, handledSteps, statesOf } from "../../arbitraries/trace.ts";
import { preview, LawBroken, requireSame } from "../evidence/law-broken.ts";
import { withQuestions } from "../evidence/questions.ts";
import {
  fixedIn,
  joiningMessages,
  messagesIn,
  refusedMessages,
  saidUnits,
  sumOfTokens,
  tokensOf,
  wholeOf,
  withGapsFilled,
  withoutLeftOut,
} from "../evidence/said-units.ts";
import { brokenAt, calibrated, type Look, lookNamed, looksOf, type PolicyLaw, type PolicyRun } from "./policy-run.ts";
import { hasWordsIn } from "./shown.ts";

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
      const expected = { tokens: counted, available: room, fits: (counted ?? 0) <= (room ?? Infinity) };
      requireSame("P4", lookNamed(look), expected, { tokens, available, fits });
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
export const zeroMeansZero: PolicyLaw = (run) => {
  const { options, policy, counter, subject } = run;
  if (!withBudgetsChecked.has(policy)) {
    for (const budget of badBudgets) {
      const { tokens, reserve } = budget;
      refused(`a budget of ${tokens} with a reserve of ${reserve}`, () => conversationMachine({ ...options, budget }));
    }
    withBudgetsChecked.add(policy);
  }
  const least = looksOf(run).find(({ budget }) => budget?.tokens === 0);
  const nothing = least?.machine ?? conversationMachine({ ...options, budget: { tokens: 0, reserve: 0 } });
  const aboutPrompts = handledSteps(run.trace).filter(
    ({ transition }) => transition.entry.decided?.unfit !== undefined || effectsOf(transition, "callLlm").length > 0,
  );
  for (const { event, before } of aboutPrompts.slice(-promptsWithoutRoom)) {
    const call = answeringCallOf(subject.transition(nothing, before, event));
    const tokens = call === undefined ? null : tokensOf(counter, call.messages);
    if (tokens !== null && tokens > 0)
      throw new LawBroken("P7", `${call?.id} carries ${tokens} tokens within a budget of nothing`);
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

/** Checks P7 for the options of policies: an invalid one is refused at once, with an error that names the value. */
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
    const words = `${what} is refused with ${preview(String(thrown))}, no ConfigurationError`;
    throw new LawBroken("P7", words, { cause: thrown });
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

const requireCallsFit = (run: PolicyRun): void => {
  const { options, counter, trace } = run;
  const { budget = null, policy } = options;
  const calibrations = calibrated(trace, options).slice(1);
  for (const [index, { event, before, transition }] of handledSteps(trace).entries()) {
    const room = roomOf(budget, calibrations[index]?.decidedWith ?? 1);
    if (room === null) continue;
    const name = `entry ${transition.entry.seq} (${event.type})`;
    const { unfit, counted } = transition.entry.decided ?? {};
    for (const effect of effectsOf(transition, "callLlm")) {
      const tokens = tokensOf(counter, effect.messages);
      const most = effect.purpose === "answer" ? room : (policy?.summariser?.requestTokens ?? room);
      if (tokens !== null && tokens > most)
        throw new LawBroken("P4", `${effect.id} carries ${tokens} tokens, and there is room for ${most}`);
      if (effect.purpose === "summary") continue;
      if (counted !== undefined) requireSame("P4", `what ${name} counted`, tokens, counted);
      if (unfit !== undefined) throw new LawBroken("P4", `${name} found the prompt unfit, and sent it`);
    }
    if (unfit !== undefined) requireTrue(run, { before, transition }, unfit, room, name);
  }
};

const requireTrue = (
  { counter, options }: PolicyRun,
  { before, transition: { state } }: Pick<HandledStep, "before" | "transition">,
  unfit: ContextUnfit,
  room: number,
  name: string,
): void => {
  const { budget } = options;
  const turn = toArray(state.context.conversation.turns).at(-1);
  requireSame("P4", `the outcome of ${name}`, { status: "failed", unfit }, turn?.outcome);
  if (unfit.tokens <= room) throw new LawBroken("P4", `${name}: ${unfit.tokens} tokens do fit into a room of ${room}`);
  // The turn has ended, so its messages are the newest closed units.
  const all = saidUnits(state);
  const open = all.closed.filter((unit) => unit.turn === turn?.number);
  const said = withoutLeftOut(all, options);
  const earlier = said.closed.filter((unit) => unit.turn !== turn?.number);
  const pinned = { units: new Set(earlier.filter((unit) => unit.pinned === true)), from: Number.POSITIVE_INFINITY };
  // Joining asks would have been in that prompt, and were requeued. Refused answers and their repair requests were set
  // aside when the turn ended.
  const aside = turn === undefined ? [] : refusedMessages(turn);
  const shown = [...messagesIn(open), ...aside, ...joiningMessages(before.context.open)];
  const led = withQuestions(
    { ...said, closed: earlier, open: unitsOf(turn?.number ?? 0, shown), isOpen: true },
    pinned,
  );
  const kept = earlier.filter((unit) => led.has(unit));
  const fixed = [...(all.system === null ? [] : [all.system]), ...messagesIn(kept), ...shown];
  const sizes = shown.map((message) => sumOfTokens(counter, [message]) - counter.perPrompt);
  const expected = {
    available: room,
    budget: budget?.tokens,
    reserve: budget?.reserve,
    fixed: tokensOf(counter, fixed) ?? 0,
    largest: sizes.length === 0 ? null : Math.max(...sizes),
  };
  const { available, budget: tokens, reserve, fixed: must, largest } = unfit;
  const told = { available, budget: tokens, reserve, fixed: must, largest: largest?.tokens ?? null };
  requireSame("P4", `the numbers of ${name}`, expected, told);
};

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

/** Returns the looks at which a policy could make room: the whole thread does not fit, but the mandatory part does. */
export const tightLooks = ({ views, counter, options }: PolicyRun): readonly Look[] =>
  views.flatMap(({ looks, calibration }) =>
    looks.filter((look) => {
      const room = roomIn(look, calibration);
      if (room === null || look.prompt.failed !== undefined) return false;
      const said = withoutLeftOut(withGapsFilled(look.said, look.prompt.messages), options);
      const [fixed, whole] = [tokensOf(counter, fixedIn(said, hasWordsIn(look))), tokensOf(counter, wholeOf(said))];
      return fixed !== null && whole !== null && fixed <= room && whole > room;
    }),
  );

/**
 * Checks P4 for policies that leave out more if there is less room. Other policies need not intend to make room: they
 * decide the same for every budget, or only shorten.
 */
export const makesRoomIfMeant: PolicyLaw = (run) => {
  const isMeant = run.views.some(({ looks }) => new Set(looks.map(leftOutIn)).size > 1);
  if (isMeant) makesRoom(run);
};

const leftOutIn = ({ prompt: { cut } }: Look): string => JSON.stringify([cut.from, cut.dropped]);

/** Checks P4 for policies that must make room: their prompt fits whenever the mandatory part does. */
export const makesRoom = (run: PolicyRun): void => {
  const look = tightLooks(run).find(({ prompt }) => !prompt.fits);
  if (look === undefined) return;
  const { tokens, available } = look.prompt;
  const words = ` shows ${tokens} tokens, there is room for ${available}, and what must be shown would fit`;
  throw brokenAt("P4", look, words);
};
