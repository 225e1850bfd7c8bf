import { type AskHandle, type HostedThread, TurnCancelledError, TurnError } from "@colloquy/host";
import { approvalsOf, type Json, outstanding, type RequestApproval, type State } from "@colloquy/machine";
import type { AskPart, CompletedTurn } from "@colloquy/host";
import { exitCodeOf, exitCodes } from "./exit-code.ts";

/** An ask: for a text, or for an output that is checked. */
export type Asked = AskHandle | AskHandle<Json>;

/** What a turn came to. */
export type TurnEnd =
  | { readonly status: "completed"; readonly turn: CompletedTurn; readonly text: string }
  /** Until somebody approves or denies. */
  | { readonly status: "waiting"; readonly approvals: readonly RequestApproval[] }
  | { readonly status: "failed" | "limit" | "cancelled"; readonly thrown: unknown };

/** Follows an ask to its end, or until nothing but approvals is waited for. Each part is shown. Never rejects for what a turn came to. */
export const followed = async (thread: HostedThread, asked: Asked, show: (part: AskPart) => void): Promise<TurnEnd> => {
  try {
    let isBegun = false;
    for await (const part of asked) {
      show(part);
      if (part.type === "turn.started") isBegun = true;
      if (!mayWait.has(part.type)) continue;
      const approvals = await approvalsAlone(thread);
      if (approvals === null) continue;
      // It waits behind a turn that waits for a person, and would do so for as long.
      if (!isBegun && part.type === "signal") asked.abort("an earlier turn waits for approval");
      return { status: "waiting", approvals };
    }
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

/** The approvals that are waited for, where nothing else is; else null. */
export const approvalsAlone = async (thread: HostedThread): Promise<readonly RequestApproval[] | null> => {
  const state = await thread.state();
  return state !== null && waitsForPerson(state) ? approvalsOf(state) : null;
};

const waitsForPerson = (state: State): boolean => {
  const open = outstanding(state).filter(({ type }) => type !== "startTimer");
  return (
    open.length > 0 &&
    open.every((effect) => effect.type === "requestApproval" || (effect.type === "callTool" && effect.by === "caller"))
  );
};
