import type { Host } from "@colloquy/host";
import { type State, type Turn, turnsOf, type Usage } from "@colloquy/machine";
import { marksOf } from "../program/exchange.ts";
import { threadsIn } from "./place.ts";

/** The calls within a turn of a session. `String(trace)` prints them as a tree. */
export interface Trace extends TraceNode {
  toString(): string;
}

/** A nested call of a model, or of another program. */
export interface TraceNode {
  /** The name of the call, after the names of the programs without turns that made it, if any. */
  readonly name: string;
  readonly threadId: string;
  /** The number of its turn on that thread. */
  readonly turn: number;
  readonly status: Turn["outcome"]["status"];
  /** The usage, including that of the nested calls. */
  readonly usage: Usage;
  readonly calls: readonly TraceNode[];
}

/** Returns the trace of a turn; null if the thread has no such turn. */
export const traceOf = async (host: Host, threadId: string, turn: number, name: string): Promise<Trace | null> => {
  const state = await host.thread(threadId).state();
  const found = state === null ? undefined : turnsOf(state).find(({ number }) => number === turn);
  if (state === null || found === undefined) return null;
  const node = await nodeOf(host, state, found, name);
  // Not enumerable, so that logging shows only the data.
  return Object.defineProperty(node, "toString", { value: () => treeOf(node).join("\n") });
};

const nodeOf = async (host: Host, state: State, turn: Turn, name: string): Promise<TraceNode> => {
  const { threadId } = state.context;
  return {
    name,
    threadId,
    turn: turn.number,
    status: turn.outcome.status,
    usage: turn.usage,
    calls: await callsWithin(host, await homeOf(host, state, turn.number), turn.number),
  };
};

/** Returns the thread on which a turn was made: in a fork, calls from before the fork hang from the original. */
const homeOf = async (host: Host, { context }: State, turn: number): Promise<string> => {
  const { threadId, forkedFrom } = context;
  if (forkedFrom === null || turn > forkedFrom.turn) return threadId;
  const original = await host.thread(forkedFrom.threadId).state();
  return original === null ? forkedFrom.threadId : homeOf(host, original, turn);
};

const callsWithin = async (host: Host, parentThread: string, parentTurn: number): Promise<readonly TraceNode[]> => {
  const calls: { readonly at: number; readonly node: TraceNode }[] = [];
  for (const link of [{ parentTurn }, { lifespan: "persistent" }])
    for await (const { threadId } of threadsIn(host, { metadata: { parentThread, ...link }, order: "oldest" })) {
      const state = await host.thread(threadId).state();
      if (state === null) continue;
      const { node: name } = state.context.metadata;
      for (const turn of turnsOf(state)) {
        const marks = marksOf(turn);
        // A model call has no marks, because its thread serves only that call.
        if (marks.askId !== undefined && (marks.parentThread !== parentThread || marks.parentTurn !== parentTurn))
          continue;
        const at = turn.startedAt;
        calls.push({ at, node: await nodeOf(host, state, turn, typeof name === "string" ? name : threadId) });
      }
    }
  return calls.sort((left, right) => left.at - right.at).map(({ node }) => node);
};

const treeOf = (node: TraceNode): readonly string[] => {
  const { name, threadId, turn, status, usage, calls } = node;
  const { inputTokens, outputTokens } = usage;
  const line = `${name}: ${status}, ${inputTokens.sum} tokens in, ${outputTokens.sum} out (turn ${turn} of ${threadId})`;
  return [
    line,
    ...calls.flatMap((call, place) => {
      const last = place === calls.length - 1;
      const [first = "", ...rest] = treeOf(call);
      return [`${last ? "└─" : "├─"} ${first}`, ...rest.map((below) => `${last ? "  " : "│ "} ${below}`)];
    }),
  ];
};
