// Decides the events of tool calls: starts, outcomes, requests for approval and their answers.
import * as Either from "fp-ts/lib/Either.js";
import { approvalDigest } from "../update/call.ts";
import type { ConversationData, RoundCall } from "../protocol/data.ts";
import type { ApprovalAnswered, ToolCompleted, ToolFailed, ToolStarted, ToolWithheld } from "../protocol/event.ts";
import { type Decision, type Refusal, refuse, stale } from "../protocol/refusal.ts";
import { decideResult } from "./outcome.ts";
import type { Settings } from "./settings.ts";
import { approvalOut, callsOf, positionNamedBy, runOut } from "../protocol/effect-id.ts";

export const decideTool = (
  settings: Settings,
  data: ConversationData,
  event: ToolStarted | ToolWithheld | ToolCompleted | ToolFailed,
): Decision => {
  const { open } = data;
  const calls = callsOf(data);
  const call = calls[positionNamedBy(event.effectId)];
  const again = event.type === "tool.started" && call?.started === true;
  if (open === null || call === undefined || again || runOut(data.threadId, call) !== event.effectId)
    return stale(event.effectId, "tool call");
  const problem = problemOfToolEvent(call, event);
  if (problem !== null) return refuse("invalid", problem);
  return Either.right(
    event.type === "tool.started" || event.type === "tool.withheld"
      ? {}
      : decideResult(settings, data, open, calls, event),
  );
};

export const decideApproval = (settings: Settings, data: ConversationData, event: ApprovalAnswered): Decision => {
  const calls = callsOf(data);
  const { open } = data;
  return Either.map(() => (event.approved || open === null ? {} : decideResult(settings, data, open, calls, event)))(
    approvedCall(data, calls, event),
  );
};

/** Returns why an event does not fit an outstanding tool call, or null if it fits. */
export const problemOfToolEvent = (
  call: RoundCall,
  event: ToolStarted | ToolWithheld | ToolCompleted | ToolFailed,
): string | null => {
  if (event.type === "tool.failed") return null;
  if (call.by === "caller")
    return event.type === "tool.completed"
      ? null
      : `tool "${call.name}" is the caller's: no host runs it, and its call is answered by "tool.completed" or "tool.failed"`;
  if (event.type === "tool.withheld") {
    // A call that was approved to run again has an unknown outcome until it has run.
    const isInDoubt =
      call.started || (call.approval?.status === "granted" && call.approval.because === "unknown_outcome");
    if (event.because === "declared" && isInDoubt)
      return `tool "${call.name}" was started already; what is not known is its outcome ("unknown_outcome")`;
    if (event.because === "unknown_outcome" && !isInDoubt) return `tool "${call.name}" was never started; run it`;
    return null;
  }
  return call.approval?.status === "required"
    ? `tool "${call.name}" may not run before it is approved; validate its arguments and send "tool.withheld"`
    : null;
};

/** Returns the call that an approval is about, or the refusal. */
export const approvedCall = (
  data: ConversationData,
  calls: readonly RoundCall[],
  event: ApprovalAnswered,
): Either.Either<Refusal, RoundCall> => {
  // Compares the whole id: thread ids may hold slashes, so the id of one thread may end like that of another.
  const call = calls[positionNamedBy(event.effectId)];
  if (call?.approval?.status !== "requested" || approvalOut(data.threadId, call) !== event.effectId) {
    const asked = calls.flatMap((each) => approvalOut(data.threadId, each) ?? []);
    const open = asked.length === 0 ? "none is" : `open: ${asked.join(", ")}`;
    return Either.left({
      kind: "stale",
      reason: `no approval "${event.effectId}" is awaited: it was answered, asked anew or cancelled (${open})`,
    });
  }
  const digest = approvalDigest(call.name, call.approval.version, call.approval.arguments);
  return event.digest === undefined || event.digest === digest
    ? Either.right(call)
    : Either.left({
        kind: "invalid",
        reason: `the answer is about another call (digest ${event.digest}, asked was ${digest}); look at what is asked, and answer that`,
      });
};
