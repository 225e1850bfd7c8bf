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
import { realSubject, type Subject } from "../../arbitraries/subject.ts";
import { handledSteps, type Trace } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { fixedIn, type SaidUnits, saidUnits, tokensOf, wholeOf } from "../evidence/said-units.ts";
import { deepFreeze, freezing, isWriteToFrozen } from "../machine/untouched.ts";

/** What a policy makes of a conversation: what the laws of pruning are about. */
export interface PolicyRun {
  readonly options: MachineOptions;
  readonly policy: Policy;
  readonly counter: Counter;
  readonly trace: Trace;
  /** A prompt for each of many budgets, at some of the states that the conversation went through. */
  readonly views: readonly View[];
  readonly subject: Subject;
}

/** The prompts of one state. */
export interface View {
  readonly state: State;
  /** The state as it was before anybody looked at it, as text. */
  readonly text: string;
  /** How many tokens a model reports for one that is counted. */
  readonly calibration: number;
  readonly said: SaidUnits;
  /** From the least room to the most; the last one without bound. */
  readonly looks: readonly Look[];
}

/** What a policy shows of a state within a budget. */
export interface Look {
  readonly machine: ConversationMachine;
  readonly state: State;
  readonly budget: Budget | null;
  /** What there was to be shown. */
  readonly said: SaidUnits;
  readonly prompt: Prompt;
}

/** A law of pruning: throws `LawBroken` where what it promises does not hold. */
export type PolicyLaw = (run: PolicyRun) => void;

/**
 * Sends a machine with these options what a schedule says, and looks at the prompts of some of its states, each
 * within budgets from nothing to more than enough. All that is handed in is frozen through and through.
 */
export const runPolicy = (options: MachineOptions, schedule: Schedule, how: HowToLook = {}): PolicyRun => {
  const subject = freezing(how.subject ?? realSubject);
  deepFreeze(options.budget);
  const trace = unwritten(() => runSchedule(conversationMachine(options), unchanging(schedule), { subject }));
  return policyRunOf(options, trace, how);
};

export interface HowToLook {
  /** Further budgets, as shares of what all of a thread takes. Default: none. */
  readonly shares?: readonly number[];
  /** At how many states, the last one among them. Default 3. */
  readonly states?: number;
  /** For tests of the laws. */
  readonly subject?: Subject;
}

/** The same, of a conversation that was had: of a recorded one, for instance. The trace is of one machine with these options. */
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

/** A machine for each budget, made once: making them costs more than the prompts. */
const machines = (options: MachineOptions): ((budget: Budget | null) => ConversationMachine) => {
  const made = new Map<number | null, ConversationMachine>();
  return (budget) => {
    const known = made.get(budget?.tokens ?? null);
    if (known !== undefined) return known;
    const machine = conversationMachine({ ...options, budget: deepFreeze(budget) });
    made.set(budget?.tokens ?? null, machine);
    return machine;
  };
};

/** Names a look in a message, with the policy that decided. */
export const lookNamed = (look: Look): string => `${look.prompt.cut.policy} ${placeOf(look)}`;

/** Names a look in a message. */
export const placeOf = ({ budget, state }: Look): string =>
  `after entry ${state.context.seq}, ${budget === null ? "without a budget" : `with a budget of ${budget.tokens}`}`;

/** What was shown where, in short, so that a message says what was decided. */
export const cutNamed = ({ prompt: { cut, reason } }: Look): string =>
  `it decided ${JSON.stringify({ ...cut, reason })}`;

/** A write into what is frozen breaks P10. */
const unwritten = <Result>(run: () => Result): Result => {
  try {
    return run();
  } catch (thrown) {
    if (!isWriteToFrozen(thrown)) throw thrown;
    throw new LawBroken("P10", `something that was handed in was written to: ${thrown.message}`, { cause: thrown });
  }
};

/** The schedule under one configuration. */
export const unchanging = (schedule: Schedule): Schedule => ({
  ...schedule,
  moves: schedule.moves.filter(
    (move) => move.move !== "reconfigure" && !(move.move === "send" && move.event.type === "thread.configured"),
  ),
});

/** A state, with how far the counter was off in the newest call that shows it, and what that was when it was decided. */
export interface Calibrated {
  readonly state: State;
  readonly calibration: number;
  readonly decidedWith: number;
}

/** The states of a trace. A report that is further off than four times makes no sense; what does not fit is measured anew. */
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
    for (const effect of transition.effects) {
      if (effect.type !== "callLlm" || effect.purpose !== "answer") continue;
      const counted = transition.entry.decided?.counted ?? 0;
      asked = counted > 0 ? { id: effect.id, counted } : null;
    }
    return { state: transition.state, calibration, decidedWith };
  });
  return [{ state: trace.started.state, calibration: 1, decidedWith: 1 }, ...later];
};

/** What was measured was measured of the words that a redaction takes out, or under a configuration that is another now. */
const forgetful: ReadonlySet<Event["type"]> = new Set(["thread.redacted", "thread.configured"]);

const reportedBy = (event: Event, asked: string | null): number | null =>
  event.type === "llm.completed" && event.effectId === asked ? (event.usage?.inputTokens ?? null) : null;

/** Nothing, what must be shown, all that there is, a token less than that, and shares between them. */
const budgetsFor = (
  said: SaidUnits,
  counter: Counter,
  calibration: number,
  shares: readonly number[],
): readonly (Budget | null)[] => {
  const sizes = sizesOf(said, counter);
  if (sizes === null) return [null];
  const { fixed, whole } = sizes;
  const between = [0.4, ...shares].map((share) => fixed + (whole - fixed) * share);
  const rooms = [0, fixed, ...between, whole - 1, whole];
  const tokens = rooms.map((room) => Math.ceil(Math.max(0, room) * calibration));
  const ascending = [...new Set(tokens)].sort((left, right) => left - right);
  return [...ascending.map((each): Budget => ({ tokens: each, reserve: 0 })), null];
};

const sizesOf = (said: SaidUnits, counter: Counter): { readonly fixed: number; readonly whole: number } | null => {
  const [fixed, whole] = [tokensOf(counter, fixedIn(said)), tokensOf(counter, wholeOf(said))];
  return fixed === null || whole === null ? null : { fixed, whole };
};
