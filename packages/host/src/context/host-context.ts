import type { ConversationMachine, JsonObject, ThreadInput, ToolDeclaration } from "@colloquy/machine";
import { kinds, type OptionKind, type OptionKinds } from "../boundary/option-kinds.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { LlmHandler } from "../ports/llm.ts";
import type { Store } from "../ports/store.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { PartLogging } from "../turn-log/sink.ts";
import type { TurnLogs } from "../turn-log/log.ts";
import type { Observation } from "./hooks.ts";
import type { InboxWatch } from "./inbox-watch.ts";

/** The context in which effects are decided and performed, wherever their thread is kept. */
export interface RunContext {
  readonly machine: ConversationMachine;
  readonly llm: LlmHandler;
  readonly tools: ToolRegistry;
  readonly declared: readonly ToolDeclaration[];
  readonly clock: Clock;
  readonly observation: Observation;
  /** Returns the text that may be shown of an error of the model handler; null for none. */
  readonly describeThrown: ((thrown: unknown) => string) | null;
  /** Returns the secrets of the application and the model handler, which are removed from failures. */
  readonly secrets: () => readonly string[];
  readonly toolContext: ToolContext;
  readonly threadDefaults: ThreadDefaults;
  /** How often the shown part of a reply is journalled, in milliseconds; null for never. */
  readonly progressMs: number | null;
  readonly partials: "askAgain" | "keep";
}

export interface HostContext extends RunContext {
  readonly store: Store;
  /** The name under which leases are taken. No other host has it. */
  readonly owner: string;
  readonly leaseTtlMs: number;
  /** The longest time that one call of the store may take. */
  readonly storeTimeoutMs: number;
  readonly idleMs: number;
  /** How often a lease holder looks at its inboxes, and a follower at the results of its inbox items. */
  readonly pollMs: number;
  readonly inboxes: InboxWatch;
  readonly whenHeld: "enqueue" | "reject";
  readonly ids: Ids;
  readonly logs: TurnLogs;
  /** The settings for writing the parts to the store's log as well; null if they are not written. */
  readonly partLogging: PartLogging | null;
  readonly closed: AbortSignal;
  /** Null if the host continues no threads by itself. */
  readonly recovery: RecoveryOptions | null;
  /** The number of entries after which a snapshot is saved; 0 for never. */
  readonly snapshotEvery: number;
}

/** The settings for the threads that a host continues by itself: which ones, and how often it looks for them. */
export interface RecoveryOptions {
  /** Returns whether it continues a thread with this metadata. Default: it continues each. */
  readonly continues?: (metadata: JsonObject) => boolean;
  /** How often a host that was started looks for threads whose holder died, in milliseconds. Default 30,000. */
  readonly everyMs?: number;
}

/** The initial values of a thread that was not started explicitly. */
export type ThreadDefaults = Omit<ThreadInput, "at" | "threadId" | "configuration">;

export const systemKind: OptionKind = kinds.of(
  "a text, or a message such as { role, content }",
  (system) => typeof system === "string" || kinds.object.fits(system),
);

export const threadDefaultKinds: OptionKinds<ThreadDefaults> = {
  system: systemKind,
  seed: kinds.list,
  metadata: kinds.object,
  model: kinds.object,
};
