import { ConfigurationError, type ConversationMachine, type JsonObject, start, toolsOf } from "@colloquy/machine";
import { frozenCopy, isConversationMachine } from "@colloquy/machine/hosting";
import { withContext } from "./ask/asks.ts";
import { checkOptions, checkValue, kinds, type OptionKinds } from "./boundary/option-kinds.ts";
import { messageOf } from "./boundary/thrown.ts";
import { type Hooks, Observation, type Observer, type ObserverErrorHandler } from "./context/hooks.ts";
import { InboxWatch } from "./context/inbox-watch.ts";
import {
  type HostContext,
  type RecoveryOptions,
  type RunContext,
  type ThreadDefaults,
  threadDefaultKinds,
} from "./context/host-context.ts";
import { usualPollMs } from "./delegation/requested-lease.ts";
import { renewMsOf } from "./journal/lease.ts";
import type { Clock } from "./ports/clock.ts";
import type { Ids } from "./ports/ids.ts";
import type { LlmHandler } from "./ports/llm.ts";
import { guardedStore } from "./ports/guarded-store.ts";
import type { Store } from "./ports/store.ts";
import { secretsOf } from "./secrets/redact.ts";
import { TurnLogs } from "./turn-log/log.ts";
import { toolRegistry } from "./tools/registry.ts";
import type { Tool, ToolContext } from "./tools/tool.ts";

/** The options of a host. */
export interface HostOptions {
  readonly machine: ConversationMachine;
  readonly store: Store;
  readonly llm: LlmHandler;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The functions of the tools that the machine declares: all of them, and no others. Default: none. */
  readonly tools?: readonly Tool[];
  /** The context that every tool gets; an ask may override members of it. Never journalled. Default {}. */
  readonly toolContext?: ToolContext;
  /** The initial values of a thread that its first ask creates. Default: none. */
  readonly thread?: ThreadDefaults;
  readonly hooks?: Hooks;
  readonly observers?: readonly Observer[];
  /** Called when a hook, an observer, or a task in the background failed. Default: nothing is reported. */
  readonly onObserverError?: ObserverErrorHandler;
  /**
   * Returns what the journal and the ask's error may show of an error of the model handler. That error may hold a key,
   * so return a reason without secrets. Default: only that the handler threw.
   */
  readonly describeThrown?: (thrown: unknown) => string;
  /**
   * Returns the secrets of the application. They are removed from the failures of tools, validators and model handlers,
   * besides the keys of the model handler and everything that looks like a key. Called at each failure. If it throws,
   * the error goes to `onObserverError`, and no secrets are removed for it. Default: none.
   */
  readonly secrets?: () => readonly string[];
  /** The thread of asks without a thread id. Default `default`. */
  readonly defaultThread?: string;
  /** How long the lease of a thread is held after this process died, in milliseconds. Default 30,000. */
  readonly leaseTtlMs?: number;
  /**
   * How long one call of the store may take, in milliseconds, by the clock of the host. Calls that may read everything
   * that is stored (`rewrite`, `delete`, `list`, `search`) have ten times as long. A call that takes longer has failed
   * (`StoreError`, whose cause is a `StoreTimeoutError`). Since it is unknown whether anything was written, the thread
   * is released, and read again when it is next used. Default 30,000.
   */
  readonly storeTimeoutMs?: number;
  /**
   * Idle time in milliseconds before a thread is released. Use less when several hosts share threads; each opening
   * reads the journal. Default 5,000.
   */
  readonly idleMs?: number;
  /**
   * The handling of an ask when another host holds the thread's lease. `enqueue`: it is posted to the store's inbox,
   * and followed. `reject`: it rejects with `ThreadHeldError` if that host works on the
   * thread (within two polls) or does not answer (after 25, and at least five seconds). Default `enqueue`, if the store has an inbox.
   */
  readonly whenHeld?: "enqueue" | "reject";
  /**
   * How often the inboxes of open threads are looked at, and a followed ask is checked for news, in milliseconds. The
   * hosts of a store may differ; if one polls less often than every five seconds, all others should do so too. Default
   * 200.
   */
  readonly pollMs?: number;
  /** How often the shown part of a reply is journalled, in milliseconds, to survive a crash. Default null: never. */
  readonly progressMs?: number | null;
  /**
   * The handling of a reply of which a part was journalled before a crash: the model is asked again, or the turn fails
   * and that part is kept. Default `askAgain`.
   */
  readonly partials?: "askAgain" | "keep";
  /**
   * How often the parts of an open turn are written to the store's log, in milliseconds, so that other processes can
   * rejoin it (`thread.rejoin`). A turn that is over sooner is not written. Null: never; then a turn is rejoined with
   * all its deltas in the process that shows it, and in others from its journal. Default null.
   */
  readonly partsMs?: number | null;
  /** How long the parts of a turn are kept after it, in memory and in that log, in milliseconds. Default 300,000. */
  readonly keepPartsMs?: number;
  /**
   * The number of entries after which a snapshot of the thread is saved, in the background, so that opening a long
   * thread reads little. 0: never. Default 512.
   */
  readonly snapshotEvery?: number;
  /**
   * Whether this host continues by itself the work that a dead process left unfinished: from its first change of a
   * thread on, or from `host.start()`. Then it must be able to continue every thread of the store, with its own
   * machine, model and tools, or every one that it `continues`. `false`: it continues only threads that are used.
   * Default: `{}`.
   */
  readonly recovery?: RecoveryOptions | false;
}

/** The options of an import of a conversation. */
export interface ImportOptions {
  readonly threadId?: string;
  readonly metadata?: JsonObject;
}

/** The options of everything that performs effects. */
export type RunOptions = Pick<
  HostOptions,
  | "machine"
  | "llm"
  | "clock"
  | "tools"
  | "thread"
  | "hooks"
  | "observers"
  | "onObserverError"
  | "describeThrown"
  | "secrets"
>;

/**
 * Returns the context that follows from the options of a performer of effects, with their defaults.
 *
 * @param whose the function that takes the options, and `kindsOfOptions` those that it takes.
 * @throws ConfigurationError for one that is missing, unknown or invalid, and if the tools are not those of the machine
 */
export const runContextOf = <Options extends RunOptions>(
  whose: string,
  options: Options,
  kindsOfOptions: OptionKinds<Options>,
): RunContext => {
  checkOptions(whose, options, kindsOfOptions);
  checkOptions(`${whose}: hooks`, options.hooks ?? {}, hookKinds);
  const { machine, llm, clock, secrets } = options;
  checkThread(`${whose}: thread`, machine, options.thread);
  const observation = new Observation(options.hooks ?? {}, [...(options.observers ?? [])], options.onObserverError);
  const failed = (thrown: unknown): void => observation.report(thrown, "secrets");
  const declared = toolsOf(machine);
  return {
    machine,
    llm,
    clock,
    tools: toolRegistry(options.tools ?? [], declared),
    declared,
    describeThrown: options.describeThrown ?? null,
    secrets: () => [...secretsOf(() => secrets?.(), failed), ...secretsOf(() => llm.secrets?.(), failed)],
    observation,
    toolContext: {},
    threadDefaults: frozenCopy(options.thread ?? {}),
    progressMs: null,
    partials: "askAgain",
  };
};

/** Refuses initial values with which no thread could start. @throws ConfigurationError */
const checkThread = (what: string, machine: ConversationMachine, thread: ThreadDefaults = {}): void => {
  checkOptions(what, thread, threadDefaultKinds);
  try {
    start(machine, { ...thread, threadId: "default", at: 0 });
  } catch (thrown) {
    throw new ConfigurationError(`${what}: ${messageOf(thrown)}`);
  }
};

/** Returns the context that follows from the options of a host, with defaults. @throws ConfigurationError */
export const hostContextOf = (options: HostOptions, closed: AbortSignal): HostContext => {
  const run = runContextOf("createHost", options, hostOptionKinds);
  const { recovery = {} } = options;
  if (recovery !== false) checkOptions<RecoveryOptions>("createHost: recovery", recovery, recoveryKinds);
  const { leaseTtlMs = options.store.leaseTtlMs ?? 30_000 } = options;
  const { ids, storeTimeoutMs = 30_000, idleMs = 5_000 } = options;
  const { pollMs = usualPollMs, whenHeld = "enqueue" } = options;
  const { progressMs = null, partials = "askAgain", snapshotEvery = 512 } = options;
  const { partsMs = null, keepPartsMs = 300_000 } = options;
  // A store that gives its own time may give a wrong one.
  checkValue("createHost: leaseTtlMs of the store", leaseTtlMs, leaseTtl);
  const { clock, observation } = run;
  const store = guardedStore(options.store, {
    clock,
    timeoutMs: storeTimeoutMs,
    renewMs: Math.min(storeTimeoutMs, renewMsOf(leaseTtlMs)),
  });
  const report = (error: unknown): void => observation.report(error, "parts");
  if (partsMs !== null && store.parts === undefined)
    throw new ConfigurationError(
      "partsMs is given, and this store keeps no log of parts; leave it out, or use another store",
    );
  return {
    ...run,
    store,
    leaseTtlMs,
    storeTimeoutMs,
    idleMs,
    pollMs,
    inboxes: new InboxWatch({
      clock,
      pollMs,
      inbox: store.inbox,
      report: (error) => observation.report(error, "store"),
    }),
    whenHeld,
    ids,
    progressMs,
    partials,
    logs: new TurnLogs(clock, keepPartsMs),
    partLogging:
      partsMs === null || store.parts === undefined
        ? null
        : { log: store.parts, clock, everyMs: partsMs, keepMs: keepPartsMs, report },
    snapshotEvery,
    closed,
    // An engine continues its threads itself.
    recovery: recovery === false || store.engine !== undefined ? null : recovery,
    toolContext: withContext(options.toolContext ?? {}, undefined),
    owner: ids.draw("owner"),
  };
};

const leaseTtl = kinds.whole(3);
const wholeOrNever = kinds.word(
  "a whole number ≥ 1, or null for never",
  (value) => value === null || kinds.whole(1).fits(value),
);
/** The kinds that all performers of effects have in common. */
export const runOptionKinds: OptionKinds<RunOptions> = {
  machine: kinds.needed(
    kinds.of("a conversation machine, which conversationMachine() makes", (machine) => isConversationMachine(machine)),
  ),
  llm: kinds.needed(kinds.of("a function such as openaiChat({ model })", kinds.call.fits)),
  clock: kinds.needed(kinds.having("a clock with now and wakeAt", "now", "wakeAt")),
  tools: kinds.anything,
  thread: kinds.object,
  hooks: kinds.object,
  observers: kinds.listOf("observers", kinds.object.fits),
  onObserverError: kinds.call,
  describeThrown: kinds.call,
  secrets: kinds.call,
};

/** The kinds of the options of `createHost`. */
export const hostOptionKinds: OptionKinds<HostOptions> = {
  ...runOptionKinds,
  store: kinds.needed(kinds.store),
  ids: kinds.needed(kinds.having("an object with a function draw", "draw")),
  toolContext: kinds.object,
  defaultThread: kinds.text,
  leaseTtlMs: leaseTtl,
  storeTimeoutMs: kinds.whole(1),
  idleMs: kinds.whole(0),
  whenHeld: kinds.oneOf("enqueue", "reject"),
  pollMs: kinds.whole(1),
  progressMs: wholeOrNever,
  partials: kinds.oneOf("askAgain", "keep"),
  partsMs: wholeOrNever,
  keepPartsMs: kinds.whole(0),
  snapshotEvery: kinds.whole(0),
  recovery: kinds.of("false or an object", (value) => value === false || kinds.object.fits(value)),
};

const recoveryKinds: OptionKinds<RecoveryOptions> = { continues: kinds.call, everyMs: kinds.whole(1) };

const hookKinds: OptionKinds<Hooks> = {
  beforeTurn: kinds.call,
  afterTurn: kinds.call,
  beforeStep: kinds.call,
  afterStep: kinds.call,
  beforeToolCall: kinds.call,
  afterToolCall: kinds.call,
};

export const importOptionKinds: OptionKinds<ImportOptions> = { threadId: kinds.anything, metadata: kinds.anything };
