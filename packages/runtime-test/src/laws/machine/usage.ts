import {
  type CallLlm,
  type Cost,
  type Effect,
  noUsage,
  type ReportedUsage,
  toArray,
  type Usage,
  usageMonoid as realMonoid,
  usageOfCall as realUsageOfCall,
} from "@colloquy/machine";
import { realSubject } from "../../arbitraries/subject.ts";
import { type HandledStep, handledSteps } from "../../arbitraries/trace.ts";
import { LawBroken, requireSame } from "../evidence/law-broken.ts";
import { type MachineLaw, stepNamed, traceFor } from "./machine-law.ts";

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
  requireSame(
    "M8",
    "adding is associative",
    sorted(concat(concat(first, second), third)),
    sorted(concat(first, concat(second, third))),
  );
  requireSame("M8", "adding is commutative", sorted(concat(first, second)), sorted(concat(second, first)));
  requireSame("M8", "the sum of calls", sorted(counted(calls)), sorted(usages.reduce(concat, empty)));
};

/**
 * Checks M8 for a thread: its usage is the sum over its turns, the open turn and `betweenTurns`, and also the sum over
 * its calls. Each call is charged to the turn that it names. A summary is charged to the turn that was open at its
 * request, otherwise between turns. A stopped call with unknown usage still counts as a call.
 */
export const usageOfThread: MachineLaw = (options, schedule, subject = realSubject) => {
  const trace = traceFor(options, schedule, subject);
  const out = new Map<string, CallLlm>();
  let calls: readonly ChargedCall[] = [];
  for (const [index, step] of handledSteps(trace).entries()) {
    calls = [...leftBehind(step, calls, out), ...callsEndedBy(step, out)];
    const { conversation, open, usage } = step.transition.state.context;
    const closed = toArray(conversation.turns);
    const name = `handled ${stepNamed(index, step.event)}`;
    const turns = [...closed.map((turn) => turn.usage), open?.usage ?? noUsage];
    const ofTurns = [...turns, usage.betweenTurns].reduce(realMonoid.concat, realMonoid.empty);
    requireSame("M8", `after ${name}, thread and sum of turns`, sorted(ofTurns), sorted(usage.total));
    requireSame("M8", `after ${name}, thread and sum of calls`, sorted(counted(calls)), sorted(usage.total));
    const charged = (turn: number): Usage => sorted(counted(calls.filter((call) => call.turn === turn)));
    requireSame("M8", `after ${name}, what is charged between turns`, charged(0), sorted(usage.betweenTurns));
    const ended = step.before.context.open?.number ?? 0;
    for (const turn of closed) {
      if (turn.number === ended || turn.number === closed.length || isSummaryOf(step))
        requireSame(
          "M8",
          `after ${name}, what is charged to turn ${turn.number}`,
          charged(turn.number),
          sorted(turn.usage),
        );
    }
  }
};

/** `turn` is 0 between turns. */
interface ChargedCall extends ReportedCall {
  readonly turn: number;
}

/**
 * In a fork, charges the usage of a turn that stays in the original thread between turns. Calls that were outstanding
 * there do not exist in the fork.
 */
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
const callsEndedBy = (
  { event, transition: { entry, effects } }: HandledStep,
  out: Map<string, CallLlm>,
): readonly ChargedCall[] => {
  const ended: ChargedCall[] = [];
  const end = (id: string, usage: ReportedUsage | null, cost: Cost | null): void => {
    const call = out.get(id);
    if (call === undefined) throw new LawBroken("M8", `a call "${id}" ended that was not out`);
    out.delete(id);
    ended.push({ usage, cost, turn: call.turn });
  };
  if (event.type === "llm.completed" || event.type === "llm.failed") {
    end(event.effectId, event.usage ?? null, entry.decided?.cost ?? null);
  }
  const asked: readonly Effect[] = effects;
  for (const effect of asked) {
    if (effect.type === "callLlm") out.set(effect.id, effect);
    if (effect.type !== "cancelLlm") continue;
    const isAnswer = out.get(effect.effectId)?.purpose === "answer";
    end(effect.effectId, isAnswer && event.type === "cancel.requested" ? (event.usage ?? null) : null, null);
  }
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
    return {
      sum: known.reduce((sum, value) => sum + value, 0),
      reported: known.length,
      unreported: values.length - known.length,
    };
  };
  const costs = calls.flatMap(({ cost }) => cost ?? []);
  const field = (name: (typeof fields)[number]) => tally(calls.map(({ usage }) => figure(usage, name)));
  return {
    calls: calls.length,
    inputTokens: field("inputTokens"),
    outputTokens: field("outputTokens"),
    totalTokens: field("totalTokens"),
    cacheReadTokens: field("cacheReadTokens"),
    cacheWriteTokens: field("cacheWriteTokens"),
    reasoningTokens: field("reasoningTokens"),
    // A call with no usage has no unknown price.
    unpriced: calls.filter(({ usage, cost }) => cost === null && !fields.every((name) => figure(usage, name) === 0))
      .length,
    cost: Object.fromEntries(
      costs.map(({ currency }) => [
        currency,
        tally(costs.filter((cost) => cost.currency === currency).map(({ nano }) => nano)),
      ]),
    ),
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
