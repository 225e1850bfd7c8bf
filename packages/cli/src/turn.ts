import {
  type AskHandle,
  type AskPart,
  type CompletedTurn,
  type Host,
  TurnCancelledError,
  TurnError,
  type HostedThread,
  ContextUnfitError,
  LimitReachedError,
} from "@colloquy/host";
import {
  type Json,
  type RequestApproval,
  type CallLlm,
  turnNumbered,
  approvalsOf,
  type CallTool,
  outstanding,
} from "@colloquy/machine";
import { exitCodes, ArgumentError, InterruptedError } from "./exit-code.ts";
import {
  figuresOf as figuresOfTurn,
  type NestedApproval,
  type NestedApprovalPort,
  printableJson,
} from "@colloquy/cli/terminal";

/** An ask for a text, or for a checked output. */
export type Asked = AskHandle | AskHandle<Json>;

/** The result of a turn. */
export type TurnEnd =
  | { readonly status: "completed"; readonly turn: CompletedTurn; readonly text: string }
  /** Until a person approves or denies. */
  | { readonly status: "waiting"; readonly approvals: readonly RequestApproval[] }
  | { readonly status: "failed" | "limit" | "cancelled"; readonly thrown: unknown };

/** The parts of a chat that following an ask needs. */
export interface FollowedChat {
  readonly host: Host;
  readonly threadId: string;
  /** Returns the approvals that a thread waits for. */
  readonly waiting: (threadId: string) => Promise<Waiting>;
  /** Called when an approval is requested, also in a nested thread. */
  readonly onNestedApproval: Set<() => void>;
}

/**
 * Follows an ask to its end, or until it waits only for approvals. Shows each part. Never rejects because of the turn's
 * result.
 */
export const followed = async (chat: FollowedChat, asked: Asked, show: (part: AskPart) => void): Promise<TurnEnd> => {
  const { promise: waits, resolve } = Promise.withResolvers<TurnEnd>();
  let isOver = false;
  const look = async (): Promise<void> => {
    const { approvals, alone } = await chat.waiting(chat.threadId);
    if (!alone || isOver) return;
    isOver = true;
    // A queued ask would wait as long as the turn before it waits for a person.
    const isAnswered = await chat.host
      .thread(chat.threadId)
      .look(({ context: { open } }) => open?.asks.some(({ askId }) => askId === asked.askId));
    if (isAnswered === false) asked.abort("an earlier turn waits for approval");
    resolve({ status: "waiting", approvals: approvals.map(({ request }) => request) });
  };
  // If the thread cannot be read, the turn reports the error.
  const looked = (): void => void look().catch(() => {});
  chat.onNestedApproval.add(looked);
  const end = endOf(asked, (part) => {
    if (isOver) return;
    show(part);
    if (mayWait.has(part.type)) looked();
  });
  const first = await Promise.race([end, waits]);
  isOver = true;
  chat.onNestedApproval.delete(looked);
  return first;
};

const endOf = async (asked: Asked, onPart: (part: AskPart) => void): Promise<TurnEnd> => {
  try {
    for await (const part of asked) onPart(part);
    const turn: CompletedTurn & { readonly output?: Json } = await asked;
    return { status: "completed", turn, text: turn.output === undefined ? turn.text : JSON.stringify(turn.output) };
  } catch (thrown) {
    if (thrown instanceof TurnCancelledError) return { status: "cancelled", thrown };
    return { status: exitCodeOf(thrown) === exitCodes.limit ? "limit" : "failed", thrown };
  }
};

/** Returns the exit code for the end of a turn. */
export const exitCodeOfEnd = (end: TurnEnd, signal: AbortSignal): number => {
  switch (end.status) {
    case "completed":
      return exitCodes.done;
    case "waiting":
      return exitCodes.waits;
    case "limit":
      return exitCodes.limit;
    case "cancelled":
      return signal.aborted ? exitCodes.interrupted : exitCodes.failed;
    case "failed":
      return exitCodes.failed;
  }
};

/** Returns the summary of a turn that ended early; null if there was no turn. */
export const summaryOf = (thrown: unknown): TurnError["summary"] | null =>
  thrown instanceof TurnError ? thrown.summary : null;

const mayWait: ReadonlySet<string> = new Set(["approval.requested", "result.requested", "toolResult", "signal"]);

/** Returns the usage of a turn in one line; null if it no longer exists. */
export const figuresOf = (thread: HostedThread, number: number): Promise<string | null> =>
  thread.look((state) => {
    const turn = turnNumbered(state, number);
    return turn === undefined ? null : figuresOfTurn(turn);
  });

/** Formats the sent prompt of a model call for a person. */
export const promptText = ({ turn, step, messages, model }: CallLlm): string =>
  [
    `prompt of turn ${turn}, step ${step}: ${messages.length} messages, ${printableJson(model)}`,
    ...messages.map((message) => `  ${printableJson(message)}`),
  ].join("\n");

/** The approvals that a thread waits for, including those of the subagents that it called. */
export interface Waiting {
  readonly approvals: readonly NestedApproval[];
  /** Whether nothing continues until a person answers. */
  readonly alone: boolean;
}

/** Returns what a call's nested thread waits for; null if it is not a call of a subagent. */
export type WaitingBelow = (call: CallTool) => Promise<Waiting | null>;

/** Returns what a thread waits for now. @param by the subagent whose thread it is; empty for none */
export const waitingOf = async (
  thread: HostedThread,
  below: WaitingBelow = async () => null,
  by = "",
): Promise<Waiting> => {
  const seen = await thread.look((state) => ({ open: outstanding(state), requests: approvalsOf(state) }));
  if (seen === null) return { approvals: [], alone: false };
  const open = seen.open.filter(({ type }) => type !== "startTimer");
  let approvals: readonly NestedApproval[] = seen.requests.map((request) => ({ request, thread, by }));
  let alone = open.length > 0;
  for (const effect of open) {
    if (effect.type === "requestApproval" || (effect.type === "callTool" && effect.by === "caller")) continue;
    const nested = effect.type === "callTool" ? await below(effect) : null;
    approvals = [...approvals, ...(nested?.approvals ?? [])];
    alone &&= nested?.alone === true;
  }
  return { approvals, alone };
};

/** Returns the approvals of subagents, for a person at a screen. */
export const nestedApprovals = ({
  waiting,
  onNestedApproval: listeners,
}: Pick<FollowedChat, "waiting" | "onNestedApproval">): NestedApprovalPort => ({
  onRequest: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  waiting: async (threadId) => (await waiting(threadId)).approvals.filter(({ by }) => by !== ""),
});

/** Returns the exit code for an error that ended a turn or a command. */
export const exitCodeOf = (thrown: unknown): number => {
  if (thrown instanceof ArgumentError) return exitCodes.arguments;
  if (thrown instanceof InterruptedError) return exitCodes.interrupted;
  return thrown instanceof LimitReachedError || thrown instanceof ContextUnfitError
    ? exitCodes.limit
    : exitCodes.failed;
};

/** Returns the thread that called the subagent of a nested thread; for any other thread, the thread itself. */
export const callerOf = async (host: Host, threadId: string): Promise<string> => {
  const parent = await host.thread(threadId).look(({ context }) => context.metadata["parentThread"]);
  return typeof parent === "string" ? callerOf(host, parent) : threadId;
};
