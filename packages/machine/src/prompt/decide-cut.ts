// Asks a policy for a cut, and checks the decision before it is used.
import { isOnPath, type Thread, turnOf } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Cut, SummarisedTurns, TurnRange } from "./cut.ts";
import { hasUnit, type InterruptedTurns, isNowhere, type UnitPosition, unitsOf } from "./unit.ts";
import { historyOf, type HistorySource } from "./history.ts";
import {
  type Budget,
  keepEverything,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  type SummaryWanted,
} from "./policy.ts";
import { blocksOf } from "./render.ts";
import { clearedUntil, shortestShrink, type Shrink } from "./shrink.ts";
import { summaryLines } from "./summary-message.ts";
import { frozenCopy, isCount, isObject, preview } from "../thread/plain-data.ts";
import type { Message } from "../thread/message.ts";

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

/** Asks a policy what the next prompt shows. If it throws or decides something invalid, everything is kept. */
export const decideCut = (policy: Policy, situation: Situation): CutDecision => {
  const label = `${policy.name}@${policy.version}`;
  try {
    // What never depends on the thread needs no input.
    const decision =
      policy.decide === keepEverything
        ? keepEverything()
        : decisionCopy(settledAtOnce(policy.decide(policyInput(situation))));
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
  reason: keepEverything().reason,
  pressed: false,
  failed,
});

/** Returns whether two cuts show the same. Their calibration is ignored. */
export const sameCut = (left: Cut | null, right: Cut): boolean =>
  left === right ||
  (left !== null &&
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
    sameJson(left.fields, right.fields));

const policyInput = (situation: Situation): PolicyInput => {
  const { budget, available, calibration, lastCut, withoutSummary, counts } = situation;
  return {
    // A member that is made when it is read makes every prompt of a long thread twice as slow.
    history: historyOf(situation),
    available,
    budget,
    calibration,
    counter: counts.counter,
    count: counts.message,
    shrink: counts.shrink,
    measure: (decision) => {
      const cut = cutOf("measured", decision, situation);
      return counts.blocks(blocksOf(situation, cut, counts));
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

/** The bound stays until a newer summary changes the lines of these turns, so that the cut does not change. */
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
const sameJson = (left: unknown, right: unknown): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right);

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

/** Copies a decision, so that the checked value is the used one. A promise is kept, so that it is rejected. */
const decisionCopy = <Value>(value: Value): Value => frozenCopy(value, (part) => part instanceof Promise);

/** The reason is journalled at every prompt. In UTF-16 units. */
const longestReason = 200;

/** Returns what is invalid in a decision, or null. A policy in plain JavaScript may return anything. */
const problemOfDecision = (decision: PolicyDecision, places: Places): string | null => {
  if (typeof decision !== "object" || decision === null) return `it is ${preview(decision)}, not a decision`;
  if ("then" in decision && typeof decision.then === "function") return "it is a promise; decide must answer at once";
  const { from, dropped, summarised, shrink, fields, system, reason } = decision;
  if (from !== null && !isPosition(from)) return `from is ${preview(from)}`;
  if (typeof reason !== "string") return `its reason is ${preview(reason)}`;
  if (dropped !== undefined && !isTexts(dropped)) return `dropped is ${preview(dropped)}, not a list of ids`;
  if (system !== undefined && system !== "omit") return `system is ${preview(system)}`;
  if (shrink !== undefined) {
    if (!Array.isArray(shrink)) return `shrink is ${preview(shrink)}, not a list of rules`;
    const rules: readonly unknown[] = shrink;
    const wrong = rules.findIndex((rule) => !isRule(rule));
    if (wrong >= 0) return `shrink has ${preview(rules[wrong])}`;
  }
  if (fields !== undefined && !isFields(fields)) return `fields is ${preview(fields)}`;
  const unknown = unknownPlaceIn(decision, places);
  if (unknown !== null || summarised === undefined) return unknown;
  const range = problemOfRange(summarised, places.thread);
  if (range !== null) return range;
  return from !== null && summarised.to < from.turn
    ? null
    : `turns ${preview(summarised)} are to be shown as summaries and, from ${preview(from)} on, as they are`;
};

/** Returns what is invalid in a range of closed turns, or null. */
export const problemOfRange = (turns: TurnRange, thread: Thread): string | null => {
  if (typeof turns !== "object" || turns === null) return `${preview(turns)} is no range of turns`;
  const { from, to } = turns;
  if (!isCount(from) || !isCount(to) || from > to) return `${preview(turns)} is no range of turns`;
  const off = [from, to].find((turn) => turn > thread.turns.length || !isOnPath(thread, turn));
  return off === undefined ? null : `turn ${off} is not on the path`;
};

const isRule = (rule: unknown): boolean => {
  if (!isObject(rule)) return false;
  const { rule: name, of, characters, before, tool } = rule;
  return (
    (name === "clear" ? before !== undefined : name === "headAndTail" || name === "reference") &&
    (of === "toolResults" || of === "messages") &&
    isCount(characters) &&
    characters >= shortestShrink &&
    (before === undefined || isPosition(before)) &&
    (tool === undefined || typeof tool === "string")
  );
};

const isFields = (fields: unknown): boolean =>
  isObject(fields) &&
  (fields["omit"] === undefined || isTexts(fields["omit"])) &&
  (fields["inputs"] === undefined || isTexts(fields["inputs"]));

const isPosition = (position: unknown): boolean =>
  isObject(position) && isCount(position["turn"]) && isCount(position["unit"]);

const isTexts = (texts: unknown): boolean => Array.isArray(texts) && texts.every((text) => typeof text === "string");

interface Places {
  readonly thread: Thread;
  readonly system: Message | null;
  readonly open: () => readonly Message[];
  readonly lastCut: Cut | null;
}

/**
 * Returns an error for the first place in a decision that the thread does not have, or null. Units of abandoned
 * branches exist. It reads one turn for each position, and the turns of dropped units.
 */
export const unknownPlaceIn = ({ from, dropped = [], shrink = [] }: PolicyDecision, places: Places): string | null => {
  const start = from === null ? null : problemOfPosition(from, places);
  if (start !== null) return `from is ${preview(from)}, and ${start}`;
  for (const { before } of shrink) {
    const end = before === undefined ? null : problemOfPosition(before, places);
    if (end !== null) return `shrink has a rule before ${preview(before)}, and ${end}`;
  }
  const unknown = unknownUnit(dropped, places);
  return unknown === undefined ? null : `dropped has ${preview(unknown)}, which is the id of no unit`;
};

const problemOfPosition = (position: UnitPosition, places: Places): string | null => {
  const { turn, unit } = position;
  const next = places.thread.turns.length + 1;
  // The beginning of the next turn is right after all closed turns.
  if (unit === 0 && turn <= next) return null;
  if (isNowhere(position)) return null;
  const messages = turn > next ? [] : messagesOf(turn, places);
  if (hasUnit(messages, unit) || isOfLastCut(position, places)) return null;
  if (turn > next)
    return `the thread has ${next - 1} turns that have ended; behind all of them is turn ${next}, unit 0`;
  const units = unitsOf(turn, messages).length;
  return `turn ${turn} has ${units} ${units === 1 ? "unit" : "units"}`;
};

/** An unchanged cut may name a place that no longer exists, such as an open turn that a fork dropped. */
const isOfLastCut = (position: UnitPosition, { lastCut }: Places): boolean =>
  [lastCut?.from, ...(lastCut?.shrink ?? []).map(({ before }) => before)].some(
    (last) => last?.turn === position.turn && last.unit === position.unit,
  );

const unknownUnit = (ids: readonly string[], places: Places): string | undefined => {
  const known = new Map<number, ReadonlySet<string>>();
  return ids.find((id) => {
    if (id === places.system?.id) return false;
    // Ids begin with the number of their turn.
    const turn = Number.parseInt(id, 10);
    const units = known.get(turn) ?? new Set(unitsOf(turn, messagesOf(turn, places)).map((unit) => unit.id));
    known.set(turn, units);
    return !units.has(id);
  });
};

/** Returns the messages of a closed turn, of the seed, or of the open or next turn. */
const messagesOf = (turn: number, { thread, open }: Places): readonly Message[] => {
  if (turn === 0) return thread.seed;
  if (turn === thread.turns.length + 1) return open();
  const closed = turnOf(thread, turn);
  return closed === undefined ? [] : toArray(closed.messages);
};
