import type { HostedThread } from "@colloquy/host";
import type { State } from "@colloquy/machine";
import type { TerminalAsk } from "./answering.ts";

/** A queued question: a text, or an ask that the thread already has. */
export interface Waiting {
  readonly text: string;
  readonly asked: TerminalAsk | null;
}

/** Returns the queued asks of a thread. */
export const waitingIn = (thread: HostedThread, { context }: State): readonly Waiting[] =>
  context.queue.map(({ askId, input }) => ({
    text: typeof input === "string" ? input : "a question of another process",
    asked: thread.rejoin(askId),
  }));
