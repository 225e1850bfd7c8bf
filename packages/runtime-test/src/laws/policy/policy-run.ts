import {
  type Budget,
  type ConversationMachine,
  conversationMachine,
  type Event,
  type MachineOptions,
  type Prompt,
  type State,
} from "@colloquy/machine";
import { type Counter, estimateCounter, keepAll, type Policy } from "@colloquy/machine/policies";
import { runSchedule } from "../../arbitraries/run-schedule.ts";
import type { Schedule } from "../../arbitraries/schedule.ts";
import { answeringCallOf, handledSteps, realSubject, type Subject, type Trace } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { fixedIn, type SaidUnits, saidUnits, tokensOf, wholeOf } from "../evidence/said-units.ts";
import { deepFreeze, freezing, isWriteToFrozen } from "../machine/untouched.ts";

/** A policy's prompts of a conversation, which the laws of pruning check. */
export interface PolicyRun {
  readonly options: MachineOptions;
  readonly policy: Policy;
  readonly counter: Counter;
  readonly trace: Trace;
  /** Prompts for many budgets, at some of the states of the conversation. */
  readonly views: readonly View[];
  readonly subject: Subject;
}

/** The prompts of one state. */
export interface View {
  readonly state: State;
  /** The state as text, before any prompt was computed. */
  readonly text: string;
  /** The tokens that a model reports for one counted token. */
  readonly calibration: number;
  readonly said: SaidUnits;
  /** From the smallest room to the largest; the last one is unlimited. */
  readonly looks: readonly Look[];
}

/** A policy's prompt of a state within a budget. */
export interface Look {
  readonly machine: ConversationMachine;
  readonly state: State;
  readonly budget: Budget | null;
  /** The content that the prompt can show. */
  readonly said: SaidUnits;
  readonly prompt: Prompt;
}

/** The part of a look that a law of one prompt reads. */
export interface ShownPrompt extends Pick<Look, "state" | "budget" | "said"> {
  readonly prompt: Pick<Prompt, "messages" | "cut" | "reason">;
}

/** A law of pruning. It throws `LawBroken` if its promise does not hold. */
export type PolicyLaw = (run: PolicyRun) => void;

/**
 * Sends a schedule to a machine with these options, and computes the prompts of some of its states, each within budgets
 * from nothing to more than enough. All arguments are deeply frozen.
 */
export const runPolicy = (options: MachineOptions, schedule: Schedule, how: HowToLook = {}): PolicyRun => {
  const subject = freezing(how.subject ?? realSubject);
  deepFreeze(options.budget);
  const trace = unwritten(() => runSchedule(conversationMachine(options), unchanging(schedule), { subject }));
  return policyRunOf(options, trace, how);
};

export interface HowToLook {
  /** More budgets, as shares of the tokens of the whole thread. Default: none. */
  readonly shares?: readonly number[];
  /** The number of states, the last one included. Default 3. */
  readonly states?: number;
  /** For tests of the laws. */
  readonly subject?: Subject;
}

/** Does the same for an existing conversation. One machine with these options must have made the trace. */
export const policyRunOf = (options: MachineOptions, trace: Trace, how: HowToLook = {}): PolicyRun => {
  const { shares = [], states = 3 } = how;
  const subject = freezing(how.subject ?? realSubject);
  const { policy = keepAll(), counter = estimateCounter } = options;
  return unwritten(() => {
    const all = calibrated(trace, options);
    const every = Math.max(1, Math.ceil(all.length / states));
    const some = all.filter((_, index) => (all.length - 1 - index) % every === 0);
    const machineFor = machines(options);
    const views = some.map(({ state, calibration }): View => {
      const text = JSON.stringify(state);
      const said = saidUnits(state);
      const looks = budgetsFor(said, counter, calibration, shares).map((budget): Look => {
        const machine = machineFor(budget);
        return { machine, state, budget, said, prompt: subject.promptOf(machine, state) };
      });
      return { state, text, calibration, said, looks };
    });
    return { options, policy, counter, trace, views, subject };
  });
};

/** Caches a machine for each budget, since making them costs more than the prompts. */
const machines = (options: MachineOptions): ((budget: Budget | null) => ConversationMachine) => {
  const made = new Map<number | null, ConversationMachine>();
  return (budget) => {
    const key = budget?.tokens ?? null;
    const machine = made.get(key) ?? conversationMachine({ ...options, budget: deepFreeze(budget) });
    made.set(key, machine);
    return machine;
  };
};

export const lookNamed = (look: ShownPrompt): string => `${look.prompt.cut.policy} ${placeOf(look)}`;

export const placeOf = ({ budget, state }: ShownPrompt): string =>
  `after entry ${state.context.seq}, ${budget === null ? "without a budget" : `with a budget of ${budget.tokens}`}`;

export const cutNamed = ({ prompt: { cut, reason } }: ShownPrompt): string =>
  `it decided ${JSON.stringify({ ...cut, reason })}`;

export const looksOf = ({ views }: PolicyRun): readonly Look[] => views.flatMap(({ looks }) => looks);

/** Makes the error of a law that a look breaks: `words` follow the look's name, and the decision follows them. */
export const brokenAt = (law: string, look: ShownPrompt, words: string): LawBroken =>
  new LawBroken(law, `${lookNamed(look)}${words}; ${cutNamed(look)}`);

/** Runs a function. If it writes into a frozen object, throws `LawBroken` for P10. */
const unwritten = <Result>(run: () => Result): Result => {
  try {
    return run();
  } catch (thrown) {
    if (!isWriteToFrozen(thrown)) throw thrown;
    throw new LawBroken("P10", `something that was handed in was written to: ${thrown.message}`, { cause: thrown });
  }
};

/** Returns the schedule without its changes of configuration. */
export const unchanging = (schedule: Schedule): Schedule => ({
  ...schedule,
  moves: schedule.moves.filter(
    (move) => move.move !== "reconfigure" && !(move.move === "send" && move.event.type === "thread.configured"),
  ),
});

/** A state, with the calibration after its newest call, and the calibration that its decision used. */
interface Calibrated {
  readonly state: State;
  readonly calibration: number;
  readonly decidedWith: number;
}

/**
 * Returns the states of a trace with their calibrations. A reported count of more than four times the own count is
 * implausible, and resets the calibration. So does a prompt that did not fit.
 */
export const calibrated = (
  trace: Trace,
  { calibrate = true, budget = null }: MachineOptions,
): readonly Calibrated[] => {
  let calibration = 1;
  let asked: { readonly id: string; readonly counted: number } | null = null;
  const later = handledSteps(trace).map(({ event, transition }) => {
    const reported = reportedBy(event, asked?.id ?? null);
    if (calibrate && budget !== null && asked !== null && reported !== null) {
      const ratio = Math.max(1, Math.round((reported / asked.counted) * 100) / 100);
      calibration = ratio > 4 ? 1 : ratio;
    }
    if (forgetful.has(event.type)) calibration = 1;
    if (event.type === "thread.configured") asked = null;
    const decidedWith = calibration;
    if (transition.entry.decided?.unfit !== undefined) calibration = 1;
    const call = answeringCallOf(transition);
    const counted = transition.entry.decided?.counted ?? 0;
    if (call !== undefined) asked = counted > 0 ? { id: call.id, counted } : null;
    return { state: transition.state, calibration, decidedWith };
  });
  return [{ state: trace.started.state, calibration: 1, decidedWith: 1 }, ...later];
};

/** The events after which an earlier measurement is void. */
const forgetful: ReadonlySet<Event["type"]> = new Set(["thread.redacted", "thread.configured"]);

const reportedBy = (event: Event, asked: string | null): number | null =>
  event.type === "llm.completed" && event.effectId === asked ? (event.usage?.inputTokens ?? null) : null;

/** Returns the budgets to try: zero, the mandatory part, the whole thread or a token less, and some between. */
const budgetsFor = (
  said: SaidUnits,
  counter: Counter,
  calibration: number,
  shares: readonly number[],
): readonly (Budget | null)[] => {
  const [fixed, whole] = [tokensOf(counter, fixedIn(said)), tokensOf(counter, wholeOf(said))];
  if (fixed === null || whole === null) return [null];
  const between = [0.4, ...shares].map((share) => fixed + (whole - fixed) * share);
  const rooms = [0, fixed, ...between, whole - 1, whole];
  const tokens = rooms.map((room) => Math.ceil(Math.max(0, room) * calibration));
  const ascending = [...new Set(tokens)].sort((left, right) => left - right);
  return [...ascending.map((each): Budget => ({ tokens: each, reserve: 0 })), null];
};
