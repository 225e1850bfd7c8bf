import { marked, messageFromResult } from "../../thread/draft.ts";
import { replaced } from "../../thread/frozen.ts";
import type { Message } from "../../thread/message.ts";
import { callTool, requestApproval } from "./call.ts";
import type { Approvable, Approval, ConversationData, OpenTurn, RoundCall } from "../protocol/data.ts";
import { isSameEffect } from "../protocol/effect-id.ts";
import type { ApprovalAnswered, ToolWithheld } from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import type { Arrow, Plan } from "./plan.ts";
import { allAnswered, approvalOut, positionNamedBy, positionOut, someRun } from "./round-calls.ts";
import { settleRound } from "./turn-closing.ts";
import { nextCall } from "./turn-opening.ts";

/** Somebody has to approve a call before it runs: they are asked. */
export const withholdCall = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ToolWithheld,
): Plan => {
  const position = positionOut(data.threadId, calls, event.effectId);
  const call = calls[position];
  if (call === undefined) return { data, arrow: "stays", effects: () => [] };
  const approval = {
    status: "requested",
    number: timesAsked(call.approval) + 1,
    because: event.because,
    version: event.version ?? null,
    arguments: event.arguments,
  } as const;
  const asked: RoundCall = { ...call, approval };
  const after = replaced(calls, position, asked);
  const { data: withheld, open: asking } = withCalls(data, open, after);
  return {
    data: withheld,
    arrow: arrowBetween(calls, after),
    effects: () => [requestApproval(withheld, asking, asked, approval, position)],
  };
};

/** A call was approved, and runs; or it was not, which is its result. */
export const receiveApproval = (
  data: ConversationData,
  open: OpenTurn,
  calls: readonly RoundCall[],
  event: ApprovalAnswered,
  decided: Decided,
): Plan => {
  const position = positionNamedBy(event.effectId);
  const call = calls[position];
  const asked = call === undefined ? undefined : approvalOut(data.threadId, call);
  if (call?.approval?.status !== "requested" || asked === undefined || !isSameEffect(event.effectId, asked))
    return { data, arrow: "stays", effects: () => [] };
  const { approval } = call;
  if (event.approved) {
    const granted: RoundCall = {
      ...call,
      started: false,
      attempt: call.attempt + 1,
      approval: { ...approval, status: "granted" },
    };
    const after = replaced(calls, position, granted);
    const running = withCalls(data, open, after);
    return {
      data: running.data,
      arrow: arrowBetween(calls, after),
      effects: () => [callTool(running.data, running.open, granted, position)],
    };
  }
  const after = replaced(calls, position, { ...call, result: denied(call, approval, event) });
  return allAnswered(after)
    ? nextCall(data, settleRound(open, after), decided, event.at)
    : // Neither before nor now it runs, so nobody has to look at the other calls.
      { data: withCalls(data, open, after).data, arrow: "stays", effects: () => [] };
};

/** Where a round leads whose calls became others: whether any of them runs, or all that are left wait for somebody. */
export const arrowBetween = (before: readonly RoundCall[], after: readonly RoundCall[]): Arrow => {
  const runs = someRun(after);
  if (someRun(before) === runs) return "stays";
  return runs ? "running" : "awaiting_approval";
};

const timesAsked = (approval: Approval | null): number =>
  approval === null || approval.status === "required" ? 0 : approval.number;

/** Words of the machine's own, so they are marked as synthesised. */
const denied = (call: RoundCall, { because }: Approvable, { reason }: ApprovalAnswered): Message => {
  const why = reason === undefined ? "." : `: ${reason}`;
  const result =
    because === "declared"
      ? messageFromResult(call, "refused", `Not run: it was not approved${why}`)
      : messageFromResult(
          call,
          "unknown",
          "The call was started, and the process that ran it stopped before it answered: it may or may not have taken " +
            `effect. It was not run again${why}`,
        );
  return marked(result, { synthesised: true });
};

const withCalls = (
  data: ConversationData,
  before: OpenTurn,
  calls: readonly RoundCall[],
): { readonly data: ConversationData; readonly open: OpenTurn } => {
  const open: OpenTurn = { ...before, stage: { type: "running", calls } };
  return { data: { ...data, open }, open };
};
