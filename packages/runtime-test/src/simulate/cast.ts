import type { Tool } from "@colloquy/host";
import type { ConversationMachine } from "@colloquy/machine";
import type { Processes } from "./world/processes.ts";
import type { ToolLedger } from "./world/tool-ledger.ts";
import type { User } from "./parts/user.ts";
import type { WatchedJournal } from "./checks/watched-journal.ts";
import type { World } from "./world/world.ts";

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
