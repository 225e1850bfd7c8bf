import type { Counter } from "./counter.ts";
import type { Cut, InterruptedTurns } from "./cut.ts";
import type { Budget, History, Policy, PolicyDecision } from "./policy.ts";

/** What a policy decided, as a cut; or all of it, and why the policy could not be used. */
export interface CutDecision {
  readonly cut: Cut;
  readonly reason: string;
  readonly failed?: string;
}

/** Asks a policy what the next prompt shows. Total: a policy that throws, or decides nonsense, is replaced by keeping all. */
export const decideCut = (
  policy: Policy,
  history: History,
  options: {
    readonly budget: Budget | null;
    readonly counter: Counter;
    readonly lastCut: Cut | null;
    readonly interrupted: InterruptedTurns;
  },
): CutDecision => {
  const label = `${policy.name}@${policy.version}`;
  try {
    const decision = policy.decide({
      history,
      budget: options.budget,
      counter: options.counter,
      lastCut: options.lastCut,
    });
    const nonsense = nonsenseIn(decision);
    if (nonsense !== null) return keepingAll(options.interrupted, `policy "${label}" decided nonsense: ${nonsense}`);
    return { cut: cutOf(label, decision, options.interrupted), reason: decision.reason };
  } catch (thrown) {
    // A policy may be anybody's code; what it throws must not stop the conversation.
    return keepingAll(options.interrupted, `policy "${label}" threw: ${inWords(thrown)}`);
  }
};

/** All of the thread, and why the policy's own decision could not be used. */
export const keepingAll = (interrupted: InterruptedTurns, failed: string): CutDecision => ({
  cut: { policy: "keep-all@1", from: null, interrupted },
  reason: "everything is kept",
  failed,
});

/** Whether two cuts show the same. */
export const sameCut = (left: Cut | null, right: Cut): boolean =>
  left !== null &&
  left.policy === right.policy &&
  left.interrupted === right.interrupted &&
  left.from?.turn === right.from?.turn &&
  left.from?.unit === right.from?.unit &&
  (left.dropped ?? []).join("\n") === (right.dropped ?? []).join("\n");

const cutOf = (policy: string, decision: PolicyDecision, interrupted: InterruptedTurns): Cut => ({
  policy,
  from: decision.from === null ? null : { turn: decision.from.turn, unit: decision.from.unit },
  ...(decision.dropped === undefined || decision.dropped.length === 0 ? {} : { dropped: [...decision.dropped] }),
  interrupted,
});

/** Total: what is thrown may be anything, and even its message may throw. */
const inWords = (thrown: unknown): string => {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "something that can't be put into words";
  }
};

const nonsenseIn = (decision: PolicyDecision): string | null => {
  if (typeof decision !== "object" || decision === null) return `it is ${String(decision)}, not a decision`;
  const { from, dropped } = decision;
  if (from !== null && !(isCount(from.turn) && isCount(from.unit))) return `from is ${JSON.stringify(from)}`;
  if (dropped !== undefined && !(Array.isArray(dropped) && dropped.every((id) => typeof id === "string"))) {
    return `dropped is ${JSON.stringify(dropped)}, not a list of ids`;
  }
  return null;
};

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
