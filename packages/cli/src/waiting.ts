import type { HostedThread } from "@colloquy/host";
import { approvalsOf, type CallTool, outstanding, type RequestApproval } from "@colloquy/machine";

/** The approvals that a thread waits for, including those of the subagents that it called. */
export interface Waiting {
  readonly approvals: readonly WaitingApproval[];
  /** Whether nothing continues until a person answers. */
  readonly alone: boolean;
}

/** An approval, and the thread on which it is answered. */
export interface WaitingApproval {
  readonly request: RequestApproval;
  readonly thread: HostedThread;
}

/** Returns what a call's nested thread waits for; null if it is not a call of a subagent. */
export type WaitingBelow = (call: CallTool) => Promise<Waiting | null>;

/** Returns what a thread waits for now. */
export const waitingOf = async (thread: HostedThread, below: WaitingBelow = async () => null): Promise<Waiting> => {
  const state = await thread.state();
  if (state === null) return { approvals: [], alone: false };
  const open = outstanding(state).filter(({ type }) => type !== "startTimer");
  let approvals: readonly WaitingApproval[] = approvalsOf(state).map((request) => ({ request, thread }));
  let alone = open.length > 0;
  for (const effect of open) {
    if (effect.type === "requestApproval" || (effect.type === "callTool" && effect.by === "caller")) continue;
    const nested = effect.type === "callTool" ? await below(effect) : null;
    approvals = [...approvals, ...(nested?.approvals ?? [])];
    alone &&= nested?.alone === true;
  }
  return { approvals, alone };
};
