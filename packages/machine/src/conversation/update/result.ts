import { messageFromResult } from "../../thread/draft.ts";
import { frozen, replaced } from "../../thread/frozen.ts";
import { arrowBetween } from "./approval.ts";
import type { ConversationData, OpenTurn, RoundCall } from "../protocol/data.ts";
import type { ToolCompleted, ToolFailed, ToolStarted } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Plan } from "./plan.ts";
import { noEffects } from "./plan.ts";
import { settleRound } from "./turn-closing.ts";
import { nextCall } from "./turn-opening.ts";
import { allAnswered, positionOut } from "./round-calls.ts";

/** A tool answered, or did not: its result is kept; with the last one the round is complete. */
export const receiveResult = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolCompleted | ToolFailed,
  decided: Decided,
): Plan => {
  const position = positionOut(data.threadId, calls, event.effectId);
  const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
  const call = calls[position];
  if (call === undefined) return { data, arrow: "stays", effects: noEffects };
  const answered = replaced(
    calls,
    position,
    frozen({ ...call, result: messageFromResult(call, outcome, event.content) }),
  );
  if (allAnswered(answered)) return nextCall(data, settleRound(open, answered), decided, event.at);
  return { data: withCalls(data, open, answered), arrow: arrowBetween(calls, answered), effects: noEffects };
};

/** A tool is about to run. */
export const receiveStart = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolStarted,
): Plan => {
  const position = positionOut(data.threadId, calls, event.effectId);
  const call = calls[position];
  if (call === undefined) return { data, arrow: "stays", effects: noEffects };
  const started = replaced(calls, position, { ...call, started: true });
  return { data: withCalls(data, open, started), arrow: "stays", effects: noEffects };
};

const withCalls = (data: ConversationData, open: OpenTurn, calls: readonly RoundCall[]): ConversationData => ({
  ...data,
  open: { ...open, stage: { type: "running", calls } },
});
