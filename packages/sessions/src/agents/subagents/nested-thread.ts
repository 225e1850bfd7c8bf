import type { Host, HostedThread, ToolCall } from "@colloquy/host";
import {
  askNamed,
  type JsonObject,
  lastTurnOf,
  type Message,
  type State,
  textOf,
  toArray,
  toolCallsOf,
  turnNumbered,
  noUsage,
  type TurnStatus,
  type Usage,
  usageMonoid,
} from "@colloquy/machine";
import type { Subagent, Agent } from "../file/agent.ts";

/**
 * Returns the id of the thread that answers a subagent call. Together with the call's id, which is the id of its ask,
 * it identifies the thread and the call, like an idempotency key.
 */
export const nestedThreadId = ({ name, memory }: Subagent, parentThread: string, callId: string): string =>
  memory === "none" ? `${parentThread}/${name}/${callId}` : `${parentThread}/${name}`;

/** Returns the metadata that link nested threads, and asks on them, to their origin. */
export const originOf = ({ name }: Subagent, { threadId, turn, state }: ToolCall): JsonObject => ({
  parentThread: threadId,
  parentCreatedAt: state().context.createdAt,
  parentTurn: turn,
  node: name,
});

/**
 * Returns the thread that answers a call, with its head at the place to continue from. The caller's present path
 * determines that place. So moving the caller's head, or forking the caller, also moves or forks the conversation with
 * its subagents.
 */
export const nestedThread = async (host: Host, subagent: Subagent, call: ToolCall): Promise<HostedThread> => {
  const { memory, agent } = subagent;
  const thread = host.thread(nestedThreadId(subagent, call.threadId, call.callId));
  const caller = call.state();
  if (memory === "parent" && (await thread.state()) === null) await copyOfOrigin(host, subagent, call, caller);
  const state = await thread.state();
  if (state === null) {
    const system = agent.instructions === null ? {} : { system: agent.instructions };
    await thread.start({ metadata: originOf(subagent, call), ...system });
    return thread;
  }
  const { conversation, metadata, open } = state.context;
  if (metadata["parentThread"] !== call.threadId)
    throw new Error(`there is another thread called "${thread.id}", which is not that of a subagent`);
  if (metadata["parentCreatedAt"] !== caller.context.createdAt)
    throw new Error(`thread "${thread.id}" is of an earlier "${call.threadId}", which was deleted; delete it too`);
  // Asked before a crash: the ask already has its place.
  if (askNamed(state, call.callId) !== null) return thread;
  if (memory === "parent") {
    // Left open by a turn of the caller that has ended.
    if (open !== null) await thread.cancel("its caller went on without it");
    const place = newestCallOnPath(caller, turnsByCall(state));
    if (conversation.head !== place) await thread.moveHead(place);
  }
  const says = conversation.system === null ? null : textOf(conversation.system);
  if (says !== agent.instructions) await thread.changeSystem(agent.instructions);
  return thread;
};

/** Returns the turns that answered calls, by call id, which is the id of their ask. */
const turnsByCall = ({ context }: State): ReadonlyMap<string, number> =>
  new Map(toArray(context.conversation.turns).flatMap(({ asks, number }) => asks.map(({ askId }) => [askId, number])));

/** Returns the nested turn of the newest call on the caller's path that has one; 0 if there is none. */
const newestCallOnPath = (caller: State, turns: ReadonlyMap<string, number>): number => {
  const newest = (messages: readonly Message[]): number | undefined => {
    const calls = messages.flatMap(toolCallsOf);
    return turns.get(calls.findLast(({ callId }) => turns.has(callId))?.callId ?? "");
  };
  const { open } = caller.context;
  const inOpen = open === null ? undefined : newest(toArray(open.messages));
  if (inOpen !== undefined) return inOpen;
  for (let turn = lastTurnOf(caller); turn !== undefined; turn = turnNumbered(caller, turn.parent)) {
    const found = newest(toArray(turn.messages));
    if (found !== undefined) return found;
  }
  return 0;
};

/**
 * If the caller is a fork, forks the original's nested thread at the turn of the caller's fork, so that the subagent
 * continues from there.
 */
const copyOfOrigin = async (host: Host, subagent: Subagent, call: ToolCall, caller: State): Promise<void> => {
  let last = Infinity;
  for (let origin = caller.context.forkedFrom; origin !== null;) {
    last = Math.min(last, origin.turn);
    const nested = host.thread(nestedThreadId(subagent, origin.threadId, call.callId));
    const state = await nested.state();
    if (state !== null) {
      // A call's id begins with its turn, and calls are answered in order.
      const turn = [...turnsByCall(state)].findLast(([callId]) => Number.parseInt(callId, 10) <= last)?.[1];
      const threadId = nestedThreadId(subagent, call.threadId, call.callId);
      if (turn !== undefined) await nested.fork({ turn, threadId, metadata: originOf(subagent, call) });
      return;
    }
    origin = (await host.thread(origin.threadId).state())?.context.forkedFrom ?? null;
  }
};

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
