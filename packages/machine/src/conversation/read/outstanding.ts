import { frozen } from "../../thread/plain-data.ts";
import {
  callLlm,
  callSummary,
  callTool,
  checkOutput,
  deadlineTimer,
  queueTimer,
  requestApproval,
  retryTimer,
  waitTimer,
} from "../update/call.ts";
import { positionOut, someRunHere } from "../protocol/effect-id.ts";
import type { ConversationData, State } from "../protocol/data.ts";
import type { AnswerableEffect, CallTool, RequestApproval } from "../protocol/effect.ts";
import { ownedState } from "../protocol/thaw.ts";

/**
 * Returns the effects that were requested and are neither answered nor cancelled. They equal those that the
 * transitions returned, whatever the configuration is now. After a crash, this is the work that is left.
 *
 * @throws SnapshotDamagedError if the state was read from a snapshot and a needed part is unreadable.
 */
export const outstanding = (state: State): readonly AnswerableEffect[] => {
  const { context: data } = ownedState(state);
  const { summarising } = data;
  return frozen(summarising === null ? ofTurns(data) : [...ofTurns(data), callSummary(data, summarising)]);
};

const ofTurns = (data: ConversationData): readonly AnswerableEffect[] => {
  const { open, waking, threadId } = data;
  if (open === null) return waking === null ? [] : [queueTimer(threadId, waking)];
  const { stage } = open;
  const deadline = open.deadlineAt === null ? [] : [deadlineTimer(threadId, open.number, open.deadlineAt)];
  switch (stage.type) {
    case "responding":
      return [...deadline, callLlm(data, open, stage.call)];
    case "checking":
      return [...deadline, ...checkOutput(threadId, open)];
    case "compacting":
      return [...deadline, waitTimer(threadId, open, stage)];
    case "backing_off":
      return [...deadline, retryTimer(threadId, open, stage)];
    case "running":
      return [
        ...deadline,
        ...stage.calls.flatMap((call, position): readonly AnswerableEffect[] => {
          if (call.result !== null) return [];
          const { approval } = call;
          return approval?.status === "requested"
            ? [requestApproval(data, open, call, approval, position)]
            : [callTool(data, open, call, position)];
        }),
      ];
  }
};

/**
 * Returns the tool calls that wait for the caller, in call order. Each is answered by a `tool.completed` or
 * `tool.failed` that names its `id`.
 */
export const callsToAnswer = (state: State): readonly CallTool[] =>
  state.context.open?.stage.type === "running"
    ? outstanding(state).filter((effect): effect is CallTool => effect.type === "callTool" && effect.by === "caller")
    : [];

/**
 * Returns the outstanding tool call with this id. It does not walk the other calls, since a reply may have thousands.
 */
export const callOut = (state: State, effectId: string): CallTool | undefined => {
  const { context: data } = ownedState(state);
  const { open } = data;
  if (open?.stage.type !== "running") return undefined;
  const position = positionOut(data.threadId, open.stage.calls, effectId);
  const call = open.stage.calls[position];
  return call === undefined || call.approval?.status === "requested" ? undefined : callTool(data, open, call, position);
};

/** Returns the call of `callsToAnswer` with this id. */
export const callToAnswer = (state: State, effectId: string): CallTool | undefined => {
  // Hosts ask for each result, and few turns have tools of the caller.
  if (state.context.open?.callerTools === undefined) return undefined;
  const call = callOut(state, effectId);
  return call?.by === "caller" ? call : undefined;
};

/**
 * Returns whether the open turn waits only for people: for approvals, and results of the caller's tools. That may take
 * days.
 */
export const waitsOutside = ({ context: { open } }: State): boolean =>
  open?.stage.type === "running" && !someRunHere(open.stage.calls);

/**
 * Returns the pending approval requests, in call order. Each is answered by an `approval.answered` that names its
 * `id`.
 */
export const approvalsOf = (state: State): readonly RequestApproval[] =>
  outstanding(state).filter((effect) => effect.type === "requestApproval");
