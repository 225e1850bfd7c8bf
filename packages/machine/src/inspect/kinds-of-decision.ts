import type { Decided } from "../conversation/protocol/entry.ts";

/**
 * Without how prompts are cut and counted: two policies that show the same do not differ, and what was counted is no
 * decision. That a policy failed is compared; the words for it are those of the version that wrote them.
 */
export const withoutCuts = (decided: Decided): Decided => {
  const others = without(decided, (kind) => kind === "cut");
  return others.policyFailed === undefined ? others : { ...others, policyFailed: "" };
};

/** Without all that is about prompts, which is for each configuration to say itself. */
export const withoutPrompts = (decided: Decided = {}): Decided => without(decided, (kind) => kind !== "course");

/** Without what depends on how many words there are, or says some of them. */
export const withoutWords = (decided: Decided): Decided => {
  const { kept: _, unfit: __, compacting: ___, results, ...others } = withoutPrompts(decided);
  return {
    ...others,
    ...(results === undefined ? {} : { results: results.map((result) => ({ ...result, content: [] })) }),
  };
};

/** `cut`: how a prompt is cut and counted. `policy`: what a policy asked for, and what became of it. `course`: all else, by which the conversation takes its course. */
type Kind = "cut" | "policy" | "course";

/** What a new member is, its author has to say here. */
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
