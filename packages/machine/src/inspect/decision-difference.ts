import type { Decided, LaterEntry } from "../conversation/protocol/entry.ts";
import { canonicalText } from "../thread/make-message.ts";

export interface DecisionDifference {
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

/** Returns how a decision differs from the recorded one; null if they are the same. */
export const decisionDifference = (entry: LaterEntry, was: Decided, now: Decided): DecisionDifference | null => {
  const [before, after] = [new Map(Object.entries(was)), new Map(Object.entries(now))];
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => canonicalText(before.get(name) ?? null) !== canonicalText(after.get(name) ?? null),
  );
  if (differing.length === 0) return null;
  const decided = (members: ReadonlyMap<string, unknown>): string =>
    canonicalText(Object.fromEntries([...members].filter(([name]) => differing.includes(name))));
  return (
    callDifference(entry, was, now) ??
    endDifference(was, now) ?? {
      what: `what "${entry.event.type}" decided`,
      expected: decided(before),
      got: decided(after),
    }
  );
};

/** Describes the first call of a reply that is handled differently. */
const callDifference = ({ event }: LaterEntry, was: Decided, now: Decided): DecisionDifference | null => {
  const calls = event.type === "llm.completed" ? (event.reply.toolCalls ?? []) : [];
  for (const [position, { name }] of calls.entries()) {
    const [before, after] = [fateOf(position, was), fateOf(position, now)];
    if (before !== after)
      return {
        what: `call of ${JSON.stringify(name)}`,
        expected: before,
        got: after === "run" ? "it is run" : `it is ${after}`,
      };
  }
  return null;
};

const fateOf = (position: number, { approvals = [], results = [] }: Decided): string => {
  const result = results.find((each) => each.position === position);
  if (result !== undefined) {
    const text = result.content.map((part) => (part.type === "text" ? part.text : part.type)).join(" ");
    return `answered without running${text === "" ? "" : ` (${text})`}`;
  }
  return approvals.includes(position) ? "held for an approval" : "run";
};

const endDifference = (was: Decided, now: Decided): DecisionDifference | null => {
  const [before, after] = [endOf(was), endOf(now)];
  if (before === after) return null;
  return {
    what: "the turn",
    expected: before === null ? "continued" : `ended: ${before}`,
    got: after === null ? "it continues" : `it ends: ${after}`,
  };
};

const endOf = ({ limit, unfit }: Decided): string | null => {
  if (unfit !== undefined) return `its prompt does not fit: ${unfit.tokens} tokens of ${unfit.available}`;
  return limit === undefined ? null : `the limit of ${limit.limit}, ${limit.allowed}, is reached`;
};

/**
 * Removes how prompts are cut and counted. Two policies that show the same do not differ, and counts are not
 * decisions. It keeps that a policy failed, but not the text, which depends on the version.
 */
export const withoutCuts = (decided: Decided): Decided => {
  const others = without(decided, (kind) => kind === "cut");
  return others.policyFailed === undefined ? others : { ...others, policyFailed: "" };
};

/** Removes everything about prompts, which each configuration decides itself. */
export const withoutPrompts = (decided: Decided = {}): Decided => without(decided, (kind) => kind !== "course");

/** Removes everything that depends on the amount of text or contains text. */
export const withoutWords = (decided: Decided): Decided => {
  const { kept: _, unfit: __, compacting: ___, results, ...others } = withoutPrompts(decided);
  return {
    ...others,
    ...(results === undefined ? {} : { results: results.map((result) => ({ ...result, content: [] })) }),
  };
};

/**
 * `cut`: how a prompt is cut and counted. `policy`: requests of a policy and their outcome. `course`: everything else,
 * which determines the course of the conversation.
 */
type Kind = "cut" | "policy" | "course";

/** The author of a new member must choose its kind here. */
const kinds = {
  queued: "course",
  supersedes: "course",
  interrupts: "course",
  joins: "course",
  goesOn: "course",
  opens: "course",
  approvals: "course",
  deadlineAt: "course",
  cut: "cut",
  retry: "course",
  room: "cut",
  unchecked: "course",
  results: "course",
  limit: "course",
  unfit: "course",
  compacting: "course",
  summary: "policy",
  summaryFailed: "policy",
  summaryStale: "course",
  fullness: "cut",
  counted: "cut",
  cost: "course",
  policyFailed: "policy",
  kept: "course",
} as const satisfies { readonly [member in keyof Required<Decided>]: Kind };

const without = (decided: Decided, leavesOut: (kind: Kind) => boolean): Decided => {
  const kept = Object.entries(decided).filter(([member]) => !isMember(member) || !leavesOut(kinds[member]));
  return Object.fromEntries(kept);
};

const isMember = (name: string): name is keyof Decided => Object.hasOwn(kinds, name);
