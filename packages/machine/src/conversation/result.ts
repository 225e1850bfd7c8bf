import { messageFromResult } from "../thread/draft.ts";
import { arrowBetween } from "./approval.ts";
import type { ConversationData, OpenTurn, RoundCall } from "./data.ts";
import { isSameEffect, toolId } from "./effect-id.ts";
import type { Decided, ToolCompleted, ToolFailed, ToolStarted } from "./event.ts";
import type { Plan } from "./plan.ts";
import { noEffects } from "./plan.ts";
import { settleRound } from "./turn-closing.ts";
import { nextCall } from "./turn-opening.ts";

/** The unanswered call of the round that an effect id names; -1 when nobody waits for it. */
const positionOf = (data: ConversationData, calls: readonly RoundCall[], effectId: string): number =>
  calls.findIndex(
    (call) => call.result === null && isSameEffect(toolId(data.threadId, call.callId, call.attempt), effectId),
  );

/** A tool answered, or did not: its result is kept; with the last one the round is complete. */
export const receiveResult = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolCompleted | ToolFailed,
  decided: Decided,
): Plan => {
  const position = positionOf(data, calls, event.effectId);
  const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
  const answered = calls.map((call, index) =>
    index === position ? { ...call, result: messageFromResult(call, outcome, event.content) } : call,
  );
  if (answered.every(({ result }) => result !== null)) {
    return nextCall(data, settleRound(open, answered), decided, event.at);
  }
  return { data: withCalls(data, open, answered), arrow: arrowBetween(calls, answered), effects: noEffects };
};

/** A tool is about to run. */
export const receiveStart = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolStarted,
): Plan => {
  const position = positionOf(data, calls, event.effectId);
  const started = calls.map((call, index) => (index === position ? { ...call, started: true } : call));
  return { data: withCalls(data, open, started), arrow: "stays", effects: noEffects };
};

const withCalls = (data: ConversationData, open: OpenTurn, calls: readonly RoundCall[]): ConversationData => ({
  ...data,
  open: { ...open, stage: { type: "running", calls } },
});
