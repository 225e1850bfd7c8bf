import type { ConversationMachine, ThreadInput } from "@colloquy/machine";
import type { ActiveThreads } from "../activity/active-threads.ts";
import type { OptionNames } from "../boundary/option-names.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { ListOptions } from "../ports/listing.ts";
import type { LlmHandler } from "../ports/llm.ts";
import type { Store } from "../ports/store.ts";
import type { PartLogging } from "../shown/part-writer.ts";
import type { ShownTurns } from "../shown/shown-turns.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Observation } from "./hooks.ts";

/** What effects are decided and performed with, wherever their thread is kept. */
export interface RunContext {
  readonly machine: ConversationMachine;
  readonly llm: LlmHandler;
  readonly tools: ToolRegistry;
  readonly clock: Clock;
  readonly observation: Observation;
  /** What may be said of what the model handler threw; null for nothing. */
  readonly describeThrown: ((thrown: unknown) => string) | null;
  /** Gives the secrets that are taken out of failures: those of the application, and the keys of the model handler. */
  readonly secrets: () => readonly string[];
  readonly toolContext: ToolContext;
  readonly threadDefaults: ThreadDefaults;
  readonly active: ActiveThreads;
  /** How often the shown part of a reply is journalled; null for never. */
  readonly progressMs: number | null;
  readonly partials: "askAgain" | "keep";
}

/** What all threads of a host run with. */
export interface HostContext extends RunContext {
  readonly store: Store;
  /** Under which name leases are taken: no other host has it. */
  readonly owner: string;
  readonly leaseTtlMs: number;
  /** The longest that any one call of the store takes. */
  readonly storeTimeoutMs: number;
  readonly idleMs: number;
  /** How often a holder looks into its inbox, and a follower for what came of its inbox items. */
  readonly pollMs: number;
  readonly whenHeld: "enqueue" | "reject";
  readonly ids: Ids;
  /** What was shown of turns, kept in memory. */
  readonly shown: ShownTurns;
  /** How it is written to the store's log as well; null where it is not. */
  readonly partLogging: PartLogging | null;
  /** Null where the host continues no threads by itself. */
  readonly recovery: RecoveryOptions | null;
  /** After how many entries a snapshot is saved; 0 for never. */
  readonly snapshotEvery: number;
}

/** Which threads a host continues by itself, and how often it looks for them. */
export interface RecoveryOptions extends Pick<ListOptions, "metadata"> {
  /** How often a host that was started looks for threads whose holder died, in milliseconds. Default 30,000. */
  readonly everyMs?: number;
}

/** What a thread begins with that was not started explicitly. */
export type ThreadDefaults = Omit<ThreadInput, "at" | "threadId" | "configuration">;

export const threadDefaultNames: OptionNames<ThreadDefaults> = {
  system: true,
  seed: true,
  metadata: true,
  model: true,
};
