import type { Entry } from "@colloquy/machine";
import type { ThreadClosedError } from "../boundary/errors.ts";
import type { HostedThread } from "./hosted-thread.ts";
import type { ThreadLoop } from "../loop/loop.ts";

/** The loops of a host, one for each thread that is in use here. */
export interface Loops {
  /** The loop of a thread, opened if need be; null when the host was closed. */
  use(threadId: string): ThreadLoop | null;
  /** The loop of a thread that is open here. */
  opened(threadId: string): ThreadLoop | undefined;
  /** Lets go of a thread, and does something with it that nobody here may come between: who uses it next waits. Asks that are open there are told why. */
  alone<Done>(threadId: string, work: () => Promise<Done>, why?: ThreadClosedError): Promise<Done>;
  /** Stores the journal of a thread that is not there yet, all of it or nothing. Rejects with `ThreadExistsError`, `ThreadHeldError`. */
  store(threadId: string, entries: readonly Entry[]): Promise<void>;
  /** A thread by its id; `"new"` draws one. */
  thread(threadId: string): HostedThread;
}
