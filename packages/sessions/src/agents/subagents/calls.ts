import type { Host } from "@colloquy/host";
import {
  type Message,
  noUsage,
  type State,
  toArray,
  toolCallsOf,
  turnNumbered,
  type TurnStatus,
  type Usage,
  usageMonoid,
} from "@colloquy/machine";
import type { Agent } from "../file/agent.ts";
import { nestedThreadId, turnsByCall } from "./nested-thread.ts";

export interface SubagentCall {
  /** The name of the tool. */
  readonly name: string;
  readonly callId: string;
  readonly threadId: string;
  /** The turn that answers the call; null if there is none yet, or it no longer exists. */
  readonly turn: number | null;
  readonly status: TurnStatus | null;
  /** Its usage, including that of its nested calls. */
  readonly usage: Usage;
  readonly calls: readonly SubagentCall[];
}

/** Returns the subagent calls in a turn of a thread, or in all turns, in order. Takes no lease. */
export const subagentCalls = async (
  host: Host,
  agent: Agent,
  threadId: string,
  turn?: number,
): Promise<readonly SubagentCall[]> => {
  const state = await host.thread(threadId).state();
  if (state === null) return [];
  const found: SubagentCall[] = [];
  const nested = new Map<string, State | null>();
  for (const { name, callId } of messagesIn(state, turn).flatMap(toolCallsOf)) {
    const subagent = agent.subagents.find((each) => each.name === name);
    if (subagent === undefined) continue;
    const id = nestedThreadId(subagent, threadId, callId);
    if (!nested.has(id)) nested.set(id, await host.thread(id).state());
    const answer = answerOf(nested.get(id) ?? null, callId);
    const calls = answer.turn === null ? [] : await subagentCalls(host, subagent.agent, id, answer.turn);
    const usage = calls.reduce((sum, each) => usageMonoid.concat(sum, each.usage), answer.usage);
    found.push({ name, callId, threadId: id, ...answer, usage, calls });
  }
  return found;
};

/** Returns the messages of a turn, or of all turns, including the open one. */
const messagesIn = (state: State, turn?: number): readonly Message[] => {
  const { conversation, open } = state.context;
  const closed = turn === undefined ? toArray(conversation.turns) : [turnNumbered(state, turn)];
  const isOpen = open !== null && (turn === undefined || turn === open.number);
  return [
    ...closed.flatMap((each) => (each === undefined ? [] : toArray(each.messages))),
    ...(isOpen ? toArray(open.messages) : []),
  ];
};

/** Returns the turn of a nested thread that answers a call, with its status and usage. */
const answerOf = (state: State | null, callId: string): Pick<SubagentCall, "turn" | "status" | "usage"> => {
  const open = state?.context.open ?? null;
  if (open !== null && open.asks.some(({ askId }) => askId === callId))
    return { turn: open.number, status: "open", usage: open.usage };
  const turn = state === null ? undefined : turnNumbered(state, turnsByCall(state).get(callId) ?? 0);
  return turn === undefined
    ? { turn: null, status: null, usage: noUsage }
    : { turn: turn.number, status: turn.outcome.status, usage: turn.usage };
};
