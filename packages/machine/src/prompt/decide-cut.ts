import { turnOf } from "../thread/path.ts";
import type { Cut, InterruptedTurns, SummarisedTurns, TurnRange } from "./cut.ts";
import type { UnitPosition } from "./position.ts";
import { historyOf, type HistorySource } from "./history.ts";
import { longestReason, problemOfDecision, problemOfRange, decisionCopy } from "./invalid-decision.ts";
import type { Budget, Policy, PolicyDecision, PolicyInput, SummaryWanted } from "./policy.ts";
import { blocksOf } from "./render.ts";
import { clearedUntil, type Shrink } from "./shrink.ts";
import { summaryLines } from "./summary-message.ts";
import { unitsOf } from "./unit.ts";

/** The full input of a policy. */
export interface Situation extends HistorySource {
  readonly budget: Budget | null;
  readonly available: number | null;
  readonly calibration: number;
  readonly lastCut: Cut | null;
  readonly withoutSummary: boolean;
  /** The number of the newest summary that arrived or failed. */
  readonly summaries: number;
}

/** A policy's decision as a cut. If the policy failed, a cut that keeps everything, with the reason. */
export interface CutDecision {
  readonly cut: Cut;
  readonly reason: string;
  readonly reasons?: PolicyDecision["reasons"];
  /** True if the budget forced it to leave something out. */
  readonly pressed: boolean;
  readonly failed?: string;
}

/**
 * Asks a policy what the next prompt shows. Never throws: if the policy throws or decides something invalid,
 * everything is kept.
 */
export const decideCut = (policy: Policy, situation: Situation): CutDecision => {
  const label = `${policy.name}@${policy.version}`;
  try {
    const decision = decisionCopy(settledAtOnce(policy.decide(policyInput(situation))));
    const problem = problemOfDecision(decision, situation);
    if (problem !== null) {
      return keepingAll(situation.interrupted, `policy "${label}" made an invalid decision: ${problem}`);
    }
    return {
      cut: cutOf(label, decision, situation),
      reason: decision.reason,
      pressed: decision.pressed === true,
      ...(decision.reasons === undefined ? {} : { reasons: decision.reasons }),
    };
  } catch (thrown) {
    // A policy may be foreign code, and its errors must not stop the conversation.
    return keepingAll(situation.interrupted, `policy "${label}" threw: ${inWords(thrown)}`);
  }
};

/** Returns the summary that a policy wants now, null for none, or an error text if the wanted summary is invalid. */
export const wantedSummary = (policy: Policy, situation: Situation): SummaryWanted | null | string => {
  if (policy.summariser === undefined) return null;
  const label = `${policy.name}@${policy.version}`;
  try {
    const wanted = decisionCopy(settledAtOnce(policy.summariser.next(policyInput(situation))));
    if (wanted === null) return null;
    const { covers, earlier } = wanted;
    const problem =
      problemOfRange(covers, situation.thread) ??
      (covers.to === 0 ? "the seed alone, which no turn can keep" : null) ??
      (earlier === null ? null : problemOfRange(earlier, situation.thread)) ??
      alreadyWritten(covers, situation) ??
      (isWithin(earlier, covers) ? null : "earlier turns reach beyond those that are covered");
    if (problem !== null) return `policy "${label}" wants an invalid summary: ${problem}`;
    return { covers: rangeOf(covers), earlier: earlier === null ? null : rangeOf(earlier) };
  } catch (thrown) {
    return `policy "${label}" threw when asked for a summary: ${inWords(thrown)}`;
  }
};

/** Returns a cut that keeps the whole thread, with the reason why the policy's decision was not used. */
export const keepingAll = (interrupted: InterruptedTurns, failed: string): CutDecision => ({
  cut: { policy: "keep-all@1", from: null, interrupted },
  reason: "everything is kept",
  pressed: false,
  failed,
});

/** Returns whether two cuts show the same. Their calibration is ignored. */
export const sameCut = (left: Cut | null, right: Cut): boolean =>
  left !== null &&
  left.policy === right.policy &&
  left.interrupted === right.interrupted &&
  left.system === right.system &&
  left.from?.turn === right.from?.turn &&
  left.from?.unit === right.from?.unit &&
  left.summarised?.from === right.summarised?.from &&
  left.summarised?.to === right.summarised?.to &&
  left.summarised?.upTo === right.summarised?.upTo &&
  sameJson(left.dropped, right.dropped) &&
  sameJson(left.shrink, right.shrink) &&
  sameJson(left.fields, right.fields);

const policyInput = (situation: Situation): PolicyInput => {
  const { budget, available, calibration, lastCut, withoutSummary, counts } = situation;
  return {
    history: historyOf(situation),
    available,
    budget,
    calibration,
    counter: counts.counter,
    count: counts.message,
    shrink: counts.shrink,
    measure: (decision) => {
      const cut = cutOf("measured", decision, situation);
      return counts.blocks(blocksOf(situation.thread, cut, situation.system, situation.open(), counts));
    },
    lastCut,
    withoutSummary,
  };
};

const cutOf = (policy: string, decision: Omit<PolicyDecision, "reason">, situation: Situation): Cut => {
  const { from, dropped, summarised, shrink, fields, system } = decision;
  const { calibration } = situation;
  return {
    policy,
    from: from === null ? null : { turn: from.turn, unit: from.unit },
    ...(dropped === undefined || dropped.length === 0 ? {} : { dropped: [...dropped] }),
    ...(summarised === undefined ? {} : { summarised: withUpTo(summarised, situation) }),
    ...(shrink === undefined || shrink.length === 0 ? {} : { shrink: shrink.map((rule) => ruleOf(rule, situation)) }),
    ...(fields === undefined ? {} : { fields: fieldsOf(fields) }),
    ...(system === undefined ? {} : { system }),
    interrupted: situation.interrupted,
    ...(calibration === 1 ? {} : { calibration }),
  };
};

/** Rejects a summary that exists already, because the policy would ask for it again and again. */
const alreadyWritten = ({ from, to }: TurnRange, { thread }: Situation): string | null =>
  turnOf(thread, to)?.summaries?.some((summary) => summary.from === from && summary.stale !== true) === true
    ? `turns ${from} to ${to} have one already`
    : null;

/**
 * Returns the summary's turns with their bound. The bound stays the same until a newer summary changes the lines of
 * these turns, so that a cut does not change without need.
 */
const withUpTo = ({ from, to }: TurnRange, { lastCut, summaries, thread }: Situation): SummarisedTurns => {
  const now = { from, to, upTo: summaries };
  const before = lastCut?.summarised;
  if (before === undefined || before.from !== from || before.to !== to) return now;
  if (before.upTo === summaries) return before;
  return before.upTo < summaries && summaryLines(thread, before) === summaryLines(thread, now) ? before : now;
};

const ruleOf = ({ rule, of, characters, before, tool }: Shrink, situation: Situation): Shrink => ({
  rule,
  of,
  characters,
  ...(before === undefined
    ? {}
    : { before: positionOf(rule === "clear" ? notBeyondNewest(before, situation) : before) }),
  ...(tool === undefined ? {} : { tool }),
});

const notBeyondNewest = (before: UnitPosition, { thread, open }: Situation): UnitPosition => {
  const turn = thread.turns.length + 1;
  return clearedUntil(before, turn, () => unitsOf(turn, open()));
};

const fieldsOf = ({ omit, inputs }: NonNullable<PolicyDecision["fields"]>): NonNullable<Cut["fields"]> => ({
  ...(omit === undefined ? {} : { omit: [...omit] }),
  ...(inputs === undefined ? {} : { inputs: [...inputs] }),
});

const positionOf = ({ turn, unit }: UnitPosition): UnitPosition => ({ turn, unit });

const rangeOf = ({ from, to }: TurnRange): TurnRange => ({ from, to });

/** Returns whether the earlier turns lie within the covered ones, or entirely before them. */
const isWithin = (earlier: TurnRange | null, covers: TurnRange): boolean =>
  earlier === null || earlier.to < covers.from || (earlier.from === covers.from && earlier.to <= covers.to);

/** Compares small plain data whose members are always created in the same order. */
const sameJson = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);

/** Catches the rejection of a promise, which is not awaited and would otherwise be unhandled. */
const settledAtOnce = <Decision>(decision: Decision): Decision => {
  if (decision instanceof Promise) decision.catch(() => {});
  return decision;
};

/** Returns the text of a thrown value. Never throws, though even reading its message may. */
const inWords = (thrown: unknown): string => {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown).slice(0, longestReason);
  } catch {
    return "something that can't be put into words";
  }
};
