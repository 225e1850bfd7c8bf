import type { ConversationData, RoundCall } from "../protocol/data.ts";
import { approvalId, isSameEffect, placeIn, toolId } from "../protocol/effect-id.ts";

// A reply may ask for thousands of calls, whose answers arrive one by one. None of them may cost a walk over all
// others.

/** Returns the calls of the open round; empty if there is none. */
export const callsOf = ({ open }: ConversationData): readonly RoundCall[] =>
  open?.stage.type === "running" ? open.stage.calls : [];

/** Returns the position in its round that an effect's id names. It does not check that the round has a call there. */
export const positionNamedBy = (effectId: string): number => {
  const place = placeIn(effectId);
  const end = place.search(/[#!]/u);
  return Number(place.slice(place.lastIndexOf(".", end) + 1, end));
};

/**
 * Returns the position of the unanswered call whose run has this effect id, or -1. The thread in the id is ignored.
 */
export const positionOut = (threadId: string, calls: readonly RoundCall[], effectId: string): number => {
  const position = positionNamedBy(effectId);
  const call = calls[position];
  return call?.result === null && isSameEffect(toolId(threadId, call.callId, call.attempt), effectId) ? position : -1;
};

/**
 * Returns whether all calls of a round are answered, apart from the one at `but`. Most rounds are answered in order,
 * so it starts with the newest.
 */
export const allAnswered = (calls: readonly RoundCall[], but?: number): boolean =>
  calls.findLastIndex(({ result }, index) => result === null && index !== but) === -1;

/** Returns whether an unanswered call runs or may run. If not, all unanswered calls wait for an approval. */
export const someRun = (calls: readonly RoundCall[]): boolean => calls.findLastIndex(runs) !== -1;

/**
 * Returns whether a host must run an unanswered call. If not, the turn waits for approvals and the caller's results.
 */
export const someRunHere = (calls: readonly RoundCall[]): boolean =>
  calls.findLastIndex((call) => call.by === undefined && runs(call)) !== -1;

/**
 * Returns the id of the effect that runs a call; undefined while its approval is requested, and after the call is
 * answered.
 */
export const runOut = (threadId: string, call: RoundCall): string | undefined =>
  runs(call) ? toolId(threadId, call.callId, call.attempt) : undefined;

/** Returns the id of a call's `requestApproval` effect; undefined if no approval is requested. */
export const approvalOut = (threadId: string, { callId, approval, result }: RoundCall): string | undefined =>
  result === null && approval?.status === "requested" ? approvalId(threadId, callId, approval.number) : undefined;

const runs = ({ result, approval }: RoundCall): boolean => result === null && approval?.status !== "requested";
