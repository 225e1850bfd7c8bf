import { frozen } from "../../thread/frozen.ts";
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
import { positionOut, someRunHere } from "../update/round-calls.ts";
import type { ConversationData } from "../protocol/data.ts";
import type { AnswerableEffect, CallTool, RequestApproval } from "../protocol/effect.ts";
import { ownedState, type State } from "../protocol/state.ts";

/**
 * The effects that were asked for and are neither answered nor cancelled: equal to those that the transitions
 * gave, whatever the configuration is now. After a crash, this is what is left to do.
 *
 * @throws SnapshotDamagedError where the state was read from a snapshot, and a part that is needed can't be read.
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
  const deadline = deadlineTimer(threadId, open);
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

/** The tool calls that wait for the caller, in the order of the calls. Each is answered by a `tool.completed` or `tool.failed` that names its `id`. */
export const callsToAnswer = (state: State): readonly CallTool[] =>
  state.context.open?.stage.type === "running"
    ? outstanding(state).filter((effect): effect is CallTool => effect.type === "callTool" && effect.by === "caller")
    : [];

/** The tool call that is out under this id, found without a walk over the others: a reply may have thousands. */
export const callOut = (state: State, effectId: string): CallTool | undefined => {
  const { context: data } = ownedState(state);
  const { open } = data;
  if (open?.stage.type !== "running") return undefined;
  const position = positionOut(data.threadId, open.stage.calls, effectId);
  const call = open.stage.calls[position];
  return call === undefined || call.approval?.status === "requested" ? undefined : callTool(data, open, call, position);
};

/** The one of `callsToAnswer` with this id. */
export const callToAnswer = (state: State, effectId: string): CallTool | undefined => {
  const call = callOut(state, effectId);
  return call?.by === "caller" ? call : undefined;
};

/** Whether all that the open turn waits for comes from outside, in days if need be: approvals, and results of the caller's tools. */
export const waitsOutside = ({ context: { open } }: State): boolean =>
  open?.stage.type === "running" && !someRunHere(open.stage.calls);

/** The approvals that are asked for, in the order of the calls. Each is answered by an `approval.answered` that names its `id`. */
export const approvalsOf = (state: State): readonly RequestApproval[] =>
  outstanding(state).filter((effect) => effect.type === "requestApproval");
