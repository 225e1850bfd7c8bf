import type { Decided } from "../conversation/protocol/entry.ts";

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
