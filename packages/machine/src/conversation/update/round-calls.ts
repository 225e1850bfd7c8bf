import type { ConversationData, RoundCall } from "../protocol/data.ts";
import { approvalId, isSameEffect, placeIn, toolId } from "../protocol/effect-id.ts";

// A reply may ask for thousands of calls, whose answers come one by one: none of them may cost a walk over all others.

/** The calls of the open round; empty while there is none. */
export const callsOf = ({ open }: ConversationData): readonly RoundCall[] =>
  open?.stage.type === "running" ? open.stage.calls : [];

/** The position in its round that an effect's id names. Whether the round has a call there is not checked. */
export const positionNamedBy = (effectId: string): number => {
  const place = placeIn(effectId);
  const end = place.search(/[#!]/u);
  return Number(place.slice(place.lastIndexOf(".", end) + 1, end));
};

/** The position of the unanswered call whose run has this effect id, whatever thread the id names; -1 when there is none. */
export const positionOut = (threadId: string, calls: readonly RoundCall[], effectId: string): number => {
  const position = positionNamedBy(effectId);
  const call = calls[position];
  return call?.result === null && isSameEffect(toolId(threadId, call.callId, call.attempt), effectId) ? position : -1;
};

/** Whether all calls of a round are answered, the one at `but` aside. Most rounds are answered in order, so the newest are looked at first. */
export const allAnswered = (calls: readonly RoundCall[], but?: number): boolean =>
  calls.findLastIndex(({ result }, index) => result === null && index !== but) === -1;

/** Whether an unanswered call runs or may run. Where none does, the unanswered ones wait for approval. */
export const someRun = (calls: readonly RoundCall[]): boolean => calls.findLastIndex(runs) !== -1;

/** Whether an unanswered call is for a host to do something about. Where none is, approvals and the caller's results are waited for. */
export const someRunHere = (calls: readonly RoundCall[]): boolean =>
  calls.findLastIndex((call) => call.by === undefined && runs(call)) !== -1;

/** The id of the effect that runs a call; undefined while its approval is asked for, and once the call is answered. */
export const runOut = (threadId: string, call: RoundCall): string | undefined =>
  runs(call) ? toolId(threadId, call.callId, call.attempt) : undefined;

/** The id of the `requestApproval` effect of a call; undefined while no approval is asked for. */
export const approvalOut = (threadId: string, { callId, approval, result }: RoundCall): string | undefined =>
  result === null && approval?.status === "requested" ? approvalId(threadId, callId, approval.number) : undefined;

const runs = ({ result, approval }: RoundCall): boolean => result === null && approval?.status !== "requested";
