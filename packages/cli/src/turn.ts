import {
  type AskHandle,
  type AskPart,
  type CompletedTurn,
  type Host,
  TurnCancelledError,
  TurnError,
} from "@colloquy/host";
import type { Json, RequestApproval } from "@colloquy/machine";
import type { Waiting } from "./waiting.ts";
import { exitCodes } from "./exit-code.ts";
import { exitCodeOf } from "./failed.ts";

/** An ask: for a text, or for an output that is checked. */
export type Asked = AskHandle | AskHandle<Json>;

/** What a turn came to. */
export type TurnEnd =
  | { readonly status: "completed"; readonly turn: CompletedTurn; readonly text: string }
  /** Until somebody approves or denies. */
  | { readonly status: "waiting"; readonly approvals: readonly RequestApproval[] }
  | { readonly status: "failed" | "limit" | "cancelled"; readonly thrown: unknown };

/** What is followed of a chat. */
export interface FollowedChat {
  readonly host: Host;
  readonly threadId: string;
  /** What a thread waits for of people. */
  readonly waiting: (threadId: string) => Promise<Waiting>;
  /** Called when something waits for an approval, also below a call of a subagent. */
  readonly onNestedApproval: Set<() => void>;
}

/** Follows an ask to its end, or until nothing but approvals is waited for. Each part is shown. Never rejects for what a turn came to. */
export const followed = async (chat: FollowedChat, asked: Asked, show: (part: AskPart) => void): Promise<TurnEnd> => {
  const { promise: waits, resolve } = Promise.withResolvers<TurnEnd>();
  let isOver = false;
  const look = async (): Promise<void> => {
    const { approvals, alone } = await chat.waiting(chat.threadId);
    if (!alone || isOver) return;
    isOver = true;
    // Behind a turn that waits for a person, it would wait for as long.
    const state = await chat.host.thread(chat.threadId).state();
    if (state?.context.open?.asks.some(({ askId }) => askId === asked.askId) === false)
      asked.abort("an earlier turn waits for approval");
    resolve({ status: "waiting", approvals: approvals.map(({ request }) => request) });
  };
  // Where the thread can't be read, its turn has the error.
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

/** What a turn ends the process with. */
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

/** The summary of a turn that ended early; null where there was none. */
export const summaryOf = (thrown: unknown): TurnError["summary"] | null =>
  thrown instanceof TurnError ? thrown.summary : null;

const mayWait: ReadonlySet<string> = new Set(["approval.requested", "result.requested", "toolResult", "signal"]);
