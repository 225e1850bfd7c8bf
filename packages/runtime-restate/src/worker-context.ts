import type { Performer } from "@colloquy/host/perform";
import type { Hub } from "./hub.ts";
import type { KnownThreads } from "./thread-state.ts";

/** What all handlers of a worker share. */
export interface WorkerContext {
  readonly performer: Performer;
  readonly hub: Hub;
  /** The name under which the threads are objects of Restate. */
  readonly object: { readonly name: string };
  readonly known: KnownThreads;
  /** After how many entries a snapshot is written; 0 for never. */
  readonly snapshotEvery: number;
}

/** How long a worker waits before it tells something again, in milliseconds, while a journal is changed by hand. */
export const laterMs = 100;
