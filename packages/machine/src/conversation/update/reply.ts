import { append } from "../../thread/chunks.ts";
import { messageFromPartial, messageFromReply } from "../../thread/make-message.ts";
import { frozen } from "../../thread/plain-data.ts";
import { type ToolCallPart, toolCallsOf } from "../../thread/message.ts";
import { type Cost, type ReportedUsage, type Usage, usageMonoid, usageOfCall } from "../../thread/usage.ts";
import { callTool, retryTimer } from "./call.ts";
import type { ConversationData, Measured, OpenTurn, RoundCall } from "../protocol/data.ts";
import { publish } from "../protocol/effect.ts";
import { stepId, allAnswered } from "../protocol/effect-id.ts";
import type { LlmCompleted, LlmFailed } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import { receiveOutput } from "./output.ts";
import type { Plan } from "./plan.ts";
import { answerFrom, closeTurn, flushWaiting, settleRound, withAnswer } from "./turn-closing.ts";
import { nextCall, isCallers } from "./turn-opening.ts";

/** Applies a model's reply: a round begins, or the turn ends with its answer. */
export const receiveReply = (
  before: ConversationData,
  beforeOpen: OpenTurn,
  event: LlmCompleted,
  decided: Decided,
): Plan => {
  const { usage, ofTurn } = charge(before, beforeOpen, event.usage, decided.cost);
  const open = { ...beforeOpen, usage: ofTurn };
  const data = { ...before, usage, measured: measuredBy(before, event) };
  const message = messageFromReply(`${open.number}.${open.made}`, stepId(open.number, open.step), event.reply);
  const asked = event.reply.toolCalls === undefined ? [] : toolCallsOf(message);
  if (asked.length === 0 && open.output !== undefined) return receiveOutput(data, open, message, event, decided);
  if (asked.length === 0 && decided.goesOn === true) {
    const said = { ...open, messages: append(open.messages, message), made: open.made + 1 };
    return nextCall(data, flushWaiting(said), decided, event.at);
  }
  if (asked.length === 0)
    return closeTurn(
      data,
      withAnswer(open, message),
      { status: "completed", finishReason: event.finishReason },
      event.at,
    );
  const approvals = new Set(decided.approvals);
  const calls = answerFrom(
    asked.map((part, position) =>
      roundCall(part, isCallers(open, part.name) ? callers : {}, approvals.has(position) ? required : null),
    ),
    decided.results ?? [],
  );
  const round: OpenTurn = {
    ...open,
    messages: append(open.messages, message),
    made: open.made + 1,
    // A call to an unknown tool counts too, so that a model that invents tools reaches the limit.
    toolCalls: open.toolCalls + (decided.limit === undefined ? calls.length : 0),
  };
  return allAnswered(calls)
    ? nextCall(data, settleRound(round, calls), decided, event.at)
    : runCalls(data, round, calls);
};

/** Returns a call that waits for its result. */
export const roundCall = (
  { callId, providerCallId, name, arguments: written }: ToolCallPart,
  by: Pick<RoundCall, "by">,
  approval: RoundCall["approval"],
): RoundCall =>
  Object.freeze({
    callId,
    providerCallId,
    name,
    arguments: written,
    started: false,
    attempt: 1,
    ...by,
    approval,
    result: null,
  });

const callers: Pick<RoundCall, "by"> = Object.freeze({ by: "caller" });

const required: RoundCall["approval"] = Object.freeze({ status: "required" });

/** Applies a failed model call: it is retried later, or the turn ends. */
export const receiveFailure = (
  before: ConversationData,
  beforeOpen: OpenTurn,
  event: LlmFailed,
  decided: Decided,
): Plan => {
  const { usage, ofTurn } = charge(before, beforeOpen, event.usage, decided.cost);
  const open = { ...beforeOpen, usage: ofTurn };
  const data = { ...before, usage };
  const { retry } = decided;
  if (retry === undefined) {
    const shown = messageFromPartial(`${open.number}.${open.made}`, event.partial ?? journalledPartial(open));
    return closeTurn(data, withAnswer(open, shown), { status: "failed", failure: event.failure }, event.at);
  }
  const waiting: OpenTurn = { ...flushWaiting(open), stage: { type: "backing_off", ...retry } };
  const room = decided.room === undefined ? {} : { room: { tokens: decided.room, turn: open.number } };
  return {
    data: { ...data, ...room, open: waiting },
    arrow: "backing_off",
    effects: () => [
      publish({ type: "retry.scheduled", turn: open.number, ...retry, because: event.failure.kind }),
      retryTimer(data.threadId, open, retry),
    ],
  };
};

/** Returns the sizes of the call that an event answers; the earlier measurement if it reports none. */
export const measuredBy = ({ open, measured }: ConversationData, { usage }: LlmCompleted): Measured | null => {
  const counted = open?.stage.type === "responding" ? open.stage.call.counted : null;
  const reported = usage?.inputTokens;
  return counted === null || counted === 0 || reported === undefined ? measured : { counted, reported };
};

const journalledPartial = (open: OpenTurn) => (open.stage.type === "responding" ? open.stage.call.partial : null);

const runCalls = (data: ConversationData, open: OpenTurn, calls: readonly RoundCall[]): Plan => {
  const running: OpenTurn = { ...open, stage: Object.freeze({ type: "running", calls: frozen(calls) }) };
  const after = { ...data, open: running };
  return {
    data: after,
    arrow: "running",
    effects: () =>
      calls.flatMap((call, position) => (call.result === null ? [callTool(after, running, call, position)] : [])),
  };
};

/** Adds the usage of a call to that of a thread and of its open turn. */
export const charge = (
  { usage: { total, betweenTurns } }: ConversationData,
  open: OpenTurn,
  reported: ReportedUsage | undefined,
  cost?: Cost,
): { readonly usage: ConversationData["usage"]; readonly ofTurn: Usage } => {
  const usage = usageOfCall(reported ?? null, cost ?? null);
  return {
    usage: Object.freeze({ total: usageMonoid.concat(total, usage), betweenTurns }),
    ofTurn: usageMonoid.concat(open.usage, usage),
  };
};
