import type { Tool } from "@colloquy/host";
import type { ConversationMachine } from "@colloquy/machine";
import type { Processes } from "./processes.ts";
import type { ToolLedger } from "./tool-ledger.ts";
import type { User } from "./user.ts";
import type { WatchedJournal } from "./watched-journal.ts";
import type { World } from "./world.ts";

/** All that takes part in one simulation. */
export interface Cast {
  readonly world: World;
  readonly journal: WatchedJournal;
  readonly processes: Processes;
  readonly user: User;
  readonly ledger: ToolLedger;
  readonly tools: readonly Tool[];
  /** The machine of processes that start with the so-many-eth configuration, from 0. */
  readonly machineOf: (revision: number) => ConversationMachine;
}

/** The thread that is watched. */
export const threadId = "simulated";

/** Short, so that they run out. */
export const leaseTtlMs = 600;
