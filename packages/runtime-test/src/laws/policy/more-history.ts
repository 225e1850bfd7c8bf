import {
  type ConversationMachine,
  conversationMachine,
  type MachineOptions,
  type Prompt,
  type State,
} from "@colloquy/machine";
import {
  type HistoryTurn,
  keepAll,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  type UnitPosition,
} from "@colloquy/machine/policies";
import { handledSteps, realSubject, type Subject } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { longConversation } from "./long-conversation.ts";
import type { PolicyLaw, View } from "./policy-run.ts";
import { lessIsShown } from "./settling.ts";

/**
 * Checks P6 for policies that are declared monotone, without a last cut. With more older turns, the prompt shows
 * everything that it shows without them, and nothing of it shorter. The room is that of the prompt without the older
 * turns, or unlimited.
 */
export const moreHistoryShowsMore: PolicyLaw = ({ policy, options, views, subject }) => {
  const view = views.at(-1);
  if (!policy.monotone || view === undefined) return;
  const given: MachineOptions = { ...options, policy };
  requireMoreWithin(given, view, subject, comparing({ ...given, budget: null }, subject)(view.state));
};

/** Checks the same after each turn of a long conversation. */
export const moreHistoryShowsMoreAtLength = (options: MachineOptions): void => {
  const { policy = keepAll() } = options;
  if (!policy.monotone) return;
  const free: MachineOptions = { ...options, budget: null, limits: {}, unknownTool: "ask" };
  const machine = conversationMachine({ ...free, policy: keepAll() });
  const trace = longConversation("P6", machine, longest, (turn) => turn % 3 === 0, "You know the weather.");
  const ends = handledSteps(trace).flatMap(({ transition: { state } }) => (state.context.open === null ? [state] : []));
  const requireMore = comparing(free, realSubject);
  for (const [index, state] of ends.entries()) {
    const less = requireMore(state);
    if (index % 10 === 0) requireMoreWithin(free, { state, calibration: 1 }, realSubject, less);
  }
};

const longest = 110;

type Prompting = Pick<Subject, "promptOf">;

/** Compares within the room that the prompt without the older turns takes. */
const requireMoreWithin = (
  options: MachineOptions,
  { state, calibration }: Pick<View, "state" | "calibration">,
  subject: Prompting,
  { tokens }: Prompt,
): void => {
  if (tokens === null) return;
  comparing({ ...options, budget: { tokens: Math.ceil(tokens * calibration), reserve: 0 } }, subject)(state);
};

/**
 * Returns a function that compares the prompts with and without the older turns of a state, and returns the one without.
 * It makes its machines once: making them costs more than the prompts.
 */
const comparing = (options: MachineOptions, subject: Prompting): ((state: State) => Prompt) => {
  const { policy = keepAll(), budget = null } = options;
  const machineWith = (seen: Policy): ConversationMachine => conversationMachine({ ...options, policy: seen });
  const [quarterHidden, whole] = [machineWith(withoutOldestQuarter(policy)), machineWith(withoutLastCut(policy))];
  return (state) => {
    const [less, more] = [subject.promptOf(quarterHidden, state), subject.promptOf(whole, state)];
    const problem = lessIsShown(less, more);
    if (problem === null) return less;
    const room = budget === null ? "without a budget" : `with a budget of ${budget.tokens}`;
    const place = `${policy.name} after entry ${state.context.seq}, ${room} and without a last cut`;
    const words = `${problem} a thread without the oldest quarter of its turns`;
    throw new LawBroken("P6", `${place}, ${words}; it decided ${JSON.stringify(more.cut)}`);
  };
};

const withoutLastCut = (policy: Policy): Policy => ({
  ...policy,
  decide: (input) => policy.decide({ ...input, lastCut: null }),
});

const withoutOldestQuarter = (policy: Policy): Policy => ({
  ...policy,
  decide: (input) => {
    const all = [...input.history.newestFirst()];
    // A thread without a seed has an empty one. Other empty turns count as turns.
    const count = all.findLastIndex(({ length }) => length > 0) + 1;
    const turns = all.slice(0, Math.floor(count * 0.75));
    const begin: UnitPosition = { turn: turns.at(-1)?.number ?? Number.MAX_SAFE_INTEGER, unit: 0 };
    const shown = <Decision extends Partial<PolicyDecision>>(decision: Decision): Decision => ({
      ...decision,
      from: decision.from ?? begin,
    });
    return shown(policy.decide({ ...hiding(input, turns), measure: (decision) => input.measure(shown(decision)) }));
  },
});

const hiding = ({ history, ...input }: PolicyInput, turns: readonly HistoryTurn[]): PolicyInput => ({
  ...input,
  lastCut: null,
  history: {
    newestFirst: () => turns,
    fixed: () => history.fixed(),
    fixedTokens: () => history.fixedTokens(),
    lead: (from, isShown) => history.lead(from, isShown),
    summaryTokens: (covered) => history.summaryTokens(covered),
  },
});
