import { marked, messageFromResult } from "../../thread/make-message.ts";
import { frozen } from "../../thread/plain-data.ts";
import { replaced } from "../../thread/chunks.ts";
import type { Message, ToolOutcome } from "../../thread/message.ts";
import type { Approvable, Approval, ConversationData, OpenTurn, RoundCall } from "../protocol/data.ts";
import {
  allAnswered,
  approvalOut,
  isSameEffect,
  positionNamedBy,
  positionOut,
  someRun,
} from "../protocol/effect-id.ts";
import type { Decided } from "../protocol/entry.ts";
import type { ApprovalAnswered, ToolCompleted, ToolFailed, ToolStarted, ToolWithheld } from "../protocol/event.ts";
import { callTool, requestApproval } from "./call.ts";
import { type Arrow, noEffects, type Plan, staying } from "./plan.ts";
import { settleRound } from "./turn-closing.ts";
import { nextCall } from "./turn-opening.ts";

export interface OpenRound {
  readonly data: ConversationData;
  readonly open: OpenTurn;
  readonly calls: readonly RoundCall[];
}

export const receiveStart = (round: OpenRound, { effectId }: ToolStarted): Plan => {
  const { data, calls } = round;
  const position = positionOut(data.threadId, calls, effectId);
  const call = calls[position];
  if (call === undefined) return staying(data);
  return staying(withCalls(round, replaced(calls, position, { ...call, started: true })).data);
};

/** Stores the result of a tool call; the last one completes the round. */
export const receiveResult = (round: OpenRound, event: ToolCompleted | ToolFailed, decided: Decided): Plan => {
  const { data, open, calls } = round;
  const position = positionOut(data.threadId, calls, event.effectId);
  const outcome = event.type === "tool.completed" ? "completed" : event.outcome;
  const call = calls[position];
  if (call === undefined) return staying(data);
  const result = messageFromResult(call, outcome, event.content);
  const answered = replaced(calls, position, frozen({ ...call, result }));
  if (allAnswered(answered)) return nextCall(data, settleRound(open, answered), decided, event.at);
  return { data: withCalls(round, answered).data, arrow: arrowBetween(calls, answered), effects: noEffects };
};

export const withholdCall = (round: OpenRound, event: ToolWithheld): Plan => {
  const { data, calls } = round;
  const position = positionOut(data.threadId, calls, event.effectId);
  const call = calls[position];
  if (call === undefined) return staying(data);
  const approval = {
    status: "requested",
    number: timesAsked(call.approval) + 1,
    because: event.because,
    version: event.version ?? null,
    arguments: event.arguments,
  } as const;
  const asked: RoundCall = { ...call, approval };
  const after = replaced(calls, position, asked);
  const withheld = withCalls(round, after);
  return {
    data: withheld.data,
    arrow: arrowBetween(calls, after),
    effects: () => [requestApproval(withheld.data, withheld.open, asked, approval, position)],
  };
};

/** Applies the answer to an approval: the call runs, or its denial becomes its result. */
export const receiveApproval = (round: OpenRound, event: ApprovalAnswered, decided: Decided): Plan => {
  const { data, open, calls } = round;
  const position = positionNamedBy(event.effectId);
  const call = calls[position];
  const asked = call === undefined ? undefined : approvalOut(data.threadId, call);
  if (call?.approval?.status !== "requested" || asked === undefined || !isSameEffect(event.effectId, asked))
    return staying(data);
  const { approval } = call;
  if (event.approved) {
    const attempt = call.attempt + 1;
    const granted: RoundCall = { ...call, started: false, attempt, approval: { ...approval, status: "granted" } };
    const after = replaced(calls, position, granted);
    const running = withCalls(round, after);
    return {
      data: running.data,
      arrow: arrowBetween(calls, after),
      effects: () => [callTool(running.data, running.open, granted, position)],
    };
  }
  const after = replaced(calls, position, { ...call, result: denied(call, approval, event) });
  return allAnswered(after)
    ? nextCall(data, settleRound(open, after), decided, event.at)
    : // The call ran neither before nor now, so the other calls need no check.
      staying(withCalls(round, after).data);
};

/** Returns the arrow of a round whose calls changed: whether some run, or all unanswered ones wait for an approval. */
const arrowBetween = (before: readonly RoundCall[], after: readonly RoundCall[]): Arrow => {
  const runs = someRun(after);
  if (someRun(before) === runs) return "stays";
  return runs ? "running" : "awaiting_approval";
};

const timesAsked = (approval: Approval | null): number =>
  approval === null || approval.status === "required" ? 0 : approval.number;

/** The machine writes this result, so it is marked as synthesised. */
const denied = (call: RoundCall, approval: Approvable, event: ApprovalAnswered): Message => {
  const { outcome, content } = denialOf(approval, event);
  return marked(messageFromResult(call, outcome, content), { synthesised: true });
};

const withCalls = ({ data, open: before }: OpenRound, calls: readonly RoundCall[]): OpenRound => {
  const open: OpenTurn = { ...before, stage: { type: "running", calls } };
  return { data: { ...data, open }, open, calls };
};

/** The beginning of the result of a call that was denied and never ran. No other refused call has it. */
export const notApproved = "Not run: it was not approved";

/** Returns the machine's result for a denied call. */
export const denialOf = (
  { because }: Pick<Approvable, "because">,
  { reason }: Pick<ApprovalAnswered, "reason">,
): { readonly outcome: ToolOutcome; readonly content: string } => {
  const why = reason === undefined ? "." : `: ${reason}`;
  if (because === "declared") return { outcome: "refused", content: `${notApproved}${why}` };
  const started =
    "The call was started, and the process that ran it stopped before it answered: it may or may not have taken effect.";
  return { outcome: "unknown", content: `${started} It was not run again${why}` };
};
