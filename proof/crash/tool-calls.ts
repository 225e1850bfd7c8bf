import { type CallTool, type Entry, outstanding, type ToolOutcome, type ToolRecovery } from "@colloquy/machine";

import { recoveries } from "./conversation.ts";
import type { Journal } from "./journal.ts";
import type { Recorded } from "./records.ts";

/** The history of a tool call, from the journal and the world. */
export interface CallHistory {
  readonly id: string;
  readonly name: string;
  readonly recovery: ToolRecovery;
  /** In which boot its start was journalled; null when it was not. */
  readonly startedIn: number | null;
  readonly askedIn: number;
  readonly answeredIn: number;
  readonly outcome: ToolOutcome;
  /** The result was written by a recovery. */
  readonly recovered: boolean;
  /** How often it changed the world. */
  readonly effects: number;
}

/** The history of each call that was answered. `lengths` are those of the journal after each boot. */
export const callHistories = (
  { entries, states }: Journal,
  lengths: readonly number[],
  records: readonly Recorded[],
): readonly CallHistory[] => {
  const bootOf = (seq: number): number => lengths.findIndex((length) => length > seq);
  const asked = new Map<string, { readonly call: CallTool; readonly seq: number }>();
  for (const [seq, state] of states.entries()) {
    for (const effect of outstanding(state)) {
      if (effect.type === "callTool" && !asked.has(effect.id)) asked.set(effect.id, { call: effect, seq });
    }
  }
  return [...asked.values()].flatMap(({ call, seq }): readonly CallHistory[] => {
    const of = entries.filter(({ event }) => "effectId" in event && event.effectId === call.id);
    const started = of.find(({ event }) => event.type === "tool.started");
    const answer = of.find(({ event }) => event.type === "tool.completed" || event.type === "tool.failed");
    if (answer === undefined) return [];
    return [
      {
        id: call.id,
        name: call.name,
        recovery: recoveries[call.name] ?? "interrupted",
        startedIn: started === undefined ? null : bootOf(started.seq),
        askedIn: bootOf(seq),
        answeredIn: bootOf(answer.seq),
        outcome: outcomeOf(answer),
        recovered: "recovered" in answer,
        effects: records.filter((fact) => fact.type === "effect" && fact.key === call.id).length,
      },
    ];
  });
};

/** Returns the violations of the table of crash point by recovery rule in a call; empty if there are none. */
export const checkCall = (call: CallHistory): readonly string[] => {
  const { recovery, recovered, outcome, effects } = call;
  const expected = expectedOutcome(call);
  const effectsMax = recovery === "rerun" ? Number.POSITIVE_INFINITY : 1;
  const problems: string[] = [];
  if (outcome !== expected) problems.push(`its outcome is "${outcome}", and should be "${expected}"`);
  if (recovered !== (expected !== "completed"))
    problems.push(`its result is ${recovered ? "" : "not "}marked recovered`);
  if (effects > effectsMax) problems.push(`it changed the world ${effects} times`);
  if (outcome === "completed" && effects === 0)
    problems.push("it is said to be completed, and never changed the world");
  if (recovery === "once" && call.startedIn === null) problems.push("its start was not journalled");
  return problems.map((problem) => `${call.name} (${recovery}, call ${call.id}): ${problem}`);
};

/** A call that a crash came upon is one that an earlier boot asked for, and a later one answered. */
const expectedOutcome = ({ recovery, askedIn, startedIn, answeredIn }: CallHistory): ToolOutcome => {
  if (recovery === "once") return startedIn === null || startedIn === answeredIn ? "completed" : "unknown";
  return recovery === "rerun" || askedIn === answeredIn ? "completed" : "interrupted";
};

const outcomeOf = ({ event }: Entry): ToolOutcome => (event.type === "tool.failed" ? event.outcome : "completed");
