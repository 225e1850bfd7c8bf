/** What the status line is about. */
export interface Status {
  /** Of the thread. */
  readonly figures: string;
  /** Pressed once, of what counts when it is pressed twice. */
  readonly armed: "quit" | "tree" | null;
  readonly asksReason: boolean;
  /** The turn whose question is being changed. */
  readonly edited: number | null;
  readonly isAnswering: boolean;
  readonly asksApproval: boolean;
  readonly waits: "lease" | "model" | null;
  readonly queued: number;
}

/** One line: what a key would do, or how the thread stands and what goes on in it. Nothing in it ticks. */
export const statusText = (status: Status): string => {
  if (status.armed !== null) return armedWords[status.armed];
  if (status.asksReason) return "Enter denies it, with a reason where there is one; Esc goes back";
  const editing = status.edited === null ? "" : `editing the question of turn ${status.edited}, Esc leaves that`;
  const queued = status.queued === 0 ? "" : `${status.queued} queued`;
  return [status.figures, editing, doing(status), queued].filter((text) => text !== "").join(" · ");
};

const armedWords = { quit: "Ctrl+C again quits", tree: "Esc again shows the tree" } as const;

const doing = ({ isAnswering, asksApproval, waits }: Status): string => {
  if (!isAnswering) return "";
  if (asksApproval) return "waiting for your yes or no";
  return waits === null ? "answering, Esc stops" : waitWords[waits];
};

const waitWords = {
  lease: "waiting for the process that has the thread, or for its lease to run out; Esc stops",
  model: "waiting for the model's turn; Esc stops",
} as const;
