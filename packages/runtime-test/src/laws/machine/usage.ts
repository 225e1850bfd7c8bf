import {
  type CallLlm,
  type Cost,
  noUsage,
  type ReportedUsage,
  toArray,
  type Usage,
  usageMonoid as realMonoid,
  usageOfCall as realUsageOfCall,
} from "@colloquy/machine";
import { effectsOf, type HandledStep } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, namedSteps } from "./machine-law.ts";

/** The reported usage of one call, and its price. */
export interface ReportedCall {
  readonly usage: ReportedUsage | null;
  readonly cost: Cost | null;
}

/** The functions that the laws of usage check. */
export interface UsageSubject {
  readonly monoid: typeof realMonoid;
  readonly usageOfCall: typeof realUsageOfCall;
}

/**
 * Checks M8 for usage itself: it is a commutative monoid. Adding up calls gives the same as counting their fields one
 * by one. An absent field counts as unreported, never as zero.
 */
export const usageAddsUp = (
  calls: readonly ReportedCall[],
  subject: UsageSubject = { monoid: realMonoid, usageOfCall: realUsageOfCall },
): void => {
  const { concat, empty } = subject.monoid;
  const usages = calls.map(({ usage, cost }) => subject.usageOfCall(usage, cost));
  const [first = empty, second = empty, third = empty] = usages;
  requireSame("M8", "empty is a unit on the left", first, concat(empty, first));
  requireSame("M8", "empty is a unit on the right", first, concat(first, empty));
  const [left, right] = [concat(concat(first, second), third), concat(first, concat(second, third))];
  requireSame("M8", "adding is associative", sorted(left), sorted(right));
  requireSame("M8", "adding is commutative", sorted(concat(first, second)), sorted(concat(second, first)));
  requireSame("M8", "the sum of calls", sorted(counted(calls)), sorted(usages.reduce(concat, empty)));
};

/**
 * Checks M8 for a thread: its usage is the sum over its turns, the open turn and `betweenTurns`, and also the sum over
 * its calls. Each call is charged to the turn that it names. A summary is charged to the turn that was open at its
 * request, otherwise between turns. A stopped call with unknown usage still counts as a call.
 */
export const usageOfThread: MachineLaw = (...given) => {
  const out = new Map<string, CallLlm>();
  let calls: readonly ChargedCall[] = [];
  for (const step of namedSteps(...given)) {
    calls = [...leftBehind(step, calls, out), ...callsEndedBy(step, out)];
    const { conversation, open, usage } = step.transition.state.context;
    const closed = toArray(conversation.turns);
    const requireUsage = (what: string, expected: Usage, actual: Usage): void =>
      requireSame("M8", `after ${step.name}, ${what}`, sorted(expected), sorted(actual));
    const turns = [...closed.map((turn) => turn.usage), open?.usage ?? noUsage, usage.betweenTurns];
    requireUsage("thread and sum of turns", turns.reduce(realMonoid.concat, realMonoid.empty), usage.total);
    requireUsage("thread and sum of calls", counted(calls), usage.total);
    const charged = (turn: number): Usage => counted(calls.filter((call) => call.turn === turn));
    requireUsage("what is charged between turns", charged(0), usage.betweenTurns);
    const ended = step.before.context.open?.number ?? 0;
    for (const turn of closed) {
      if (turn.number === ended || turn.number === closed.length || isSummaryOf(step))
        requireUsage(`what is charged to turn ${turn.number}`, charged(turn.number), turn.usage);
    }
  }
};

/** `turn` is 0 between turns. */
interface ChargedCall extends ReportedCall {
  readonly turn: number;
}

/** In a fork, the usage of a turn that stays in the original thread is charged between turns. */
const leftBehind = (
  { event, before }: HandledStep,
  calls: readonly ChargedCall[],
  out: Map<string, CallLlm>,
): readonly ChargedCall[] => {
  if (event.type !== "thread.forked") return calls;
  out.clear();
  return calls.map((call) => (call.turn === before.context.open?.number ? { ...call, turn: 0 } : call));
};

/** Returns the calls that a step ended, and adds the calls that it requested to the outstanding ones. */
const callsEndedBy = ({ event, transition }: HandledStep, out: Map<string, CallLlm>): readonly ChargedCall[] => {
  const ended: ChargedCall[] = [];
  const end = (id: string, usageOf: (call: CallLlm) => ReportedUsage | undefined, cost: Cost | null): void => {
    const call = out.get(id);
    if (call === undefined) throw new LawBroken("M8", `a call "${id}" ended that was not out`);
    out.delete(id);
    ended.push({ usage: usageOf(call) ?? null, cost, turn: call.turn });
  };
  if (event.type === "llm.completed" || event.type === "llm.failed")
    end(event.effectId, () => event.usage, transition.entry.decided?.cost ?? null);
  const reported = event.type === "cancel.requested" ? event.usage : undefined;
  for (const effect of effectsOf(transition, "cancelLlm"))
    end(effect.effectId, ({ purpose }) => (purpose === "answer" ? reported : undefined), null);
  for (const call of effectsOf(transition, "callLlm")) out.set(call.id, call);
  return ended;
};

/** Returns whether a step ends a summary, which may be charged to any turn. */
const isSummaryOf = ({ before, transition }: HandledStep): boolean =>
  before.context.summarising !== null && before.context.summarising !== transition.state.context.summarising;

const fields = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const;

/** Counts usage field by field, in the simplest way. */
const counted = (calls: readonly ReportedCall[]): Usage => {
  const tally = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    const sum = known.reduce((left, right) => left + right, 0);
    return { sum, reported: known.length, unreported: values.length - known.length };
  };
  const costs = calls.flatMap(({ cost }) => cost ?? []);
  const inCurrency = (currency: string) => costs.filter((cost) => cost.currency === currency).map((cost) => cost.nano);
  // A call with no usage has no unknown price.
  const unpriced = calls.filter(
    ({ usage, cost }) => cost === null && !fields.every((name) => figure(usage, name) === 0),
  );
  const tallies = fields.map((name) => [name, tally(calls.map(({ usage }) => figure(usage, name)))] as const);
  return {
    // The names are those of the fields.
    ...(Object.fromEntries(tallies) as Pick<Usage, (typeof fields)[number]>),
    calls: calls.length,
    unpriced: unpriced.length,
    cost: Object.fromEntries(costs.map(({ currency }) => [currency, tally(inCurrency(currency))])),
  };
};

const figure = (usage: ReportedUsage | null, name: (typeof fields)[number]): number | undefined => {
  if (usage === null) return undefined;
  if (name !== "totalTokens" || usage.totalTokens !== undefined) return usage[name];
  const { inputTokens, outputTokens } = usage;
  return inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens;
};

/** Sorts the currencies, so that their order of occurrence does not matter. */
const sorted = (usage: Usage): Usage => {
  for (const field of fields) {
    const { reported, unreported } = usage[field];
    if (reported + unreported !== usage.calls) {
      throw new LawBroken("M8", `${field} counts ${reported + unreported} calls where there were ${usage.calls}`);
    }
  }
  return {
    ...usage,
    cost: Object.fromEntries(Object.entries(usage.cost).sort(([left], [right]) => (left < right ? -1 : 1))),
  };
};
