import { ConfigurationError, type ConversationMachine, type JsonObject, toolsOf } from "@colloquy/machine";
import { frozenCopy, isConversationMachine } from "@colloquy/machine/hosting";
import { ActiveThreads } from "./activity/active-threads.ts";
import { withContext } from "./ask/asks.ts";
import { checkKinds, checkOptions, checkValue, kinds, type OptionKinds } from "./boundary/option-kinds.ts";
import { type OptionNames, problemOfOptions } from "./boundary/option-names.ts";
import { type Hooks, Observation, type Observer, type ObserverErrorHandler } from "./context/hooks.ts";
import {
  type HostContext,
  type RecoveryOptions,
  type RunContext,
  type ThreadDefaults,
  threadDefaultNames,
} from "./context/host-context.ts";
import { renewMsOf } from "./journal/lease.ts";
import type { Clock } from "./ports/clock.ts";
import type { Ids } from "./ports/ids.ts";
import type { LlmHandler } from "./ports/llm.ts";
import { storeInTime } from "./ports/store-in-time.ts";
import type { Store } from "./ports/store.ts";
import { secretsOf } from "./secrets/secrets-of.ts";
import { ShownTurns } from "./shown/shown-turns.ts";
import { toolRegistry } from "./tools/registry.ts";
import type { Tool, ToolContext } from "./tools/tool.ts";

/** What a host is made from. */
export interface HostOptions {
  readonly machine: ConversationMachine;
  readonly store: Store;
  readonly llm: LlmHandler;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The functions of the tools that the machine declares: all of them, and no others. Default: none. */
  readonly tools?: readonly Tool[];
  /** What every tool gets; an ask may lay its own over it. Never journalled. Default {}. */
  readonly toolContext?: ToolContext;
  /** What a thread begins with that is made by its first ask. Default: nothing. */
  readonly thread?: ThreadDefaults;
  readonly hooks?: Hooks;
  readonly observers?: readonly Observer[];
  /** Called when a hook, an observer, or something in the background failed. Default: nothing is reported. */
  readonly onObserverError?: ObserverErrorHandler;
  /**
   * What the journal and the error of the ask say of what the model handler threw, which may hold a key: so a reason without
   * secrets. Default: nothing of it, only that it threw.
   */
  readonly describeThrown?: (thrown: unknown) => string;
  /**
   * Gives the secrets of the application. They are taken out of the failures of tools, validators and model handlers, beside
   * the keys of the model handler and everything that has the form of a key. Called at each failure; an error that it
   * throws goes to `onObserverError`, and gives no secrets. Default: none.
   */
  readonly secrets?: () => readonly string[];
  /** The thread of asks that name none. Default `default`. */
  readonly defaultThread?: string;
  /** How long a thread stays held after this process died, in milliseconds. Default 30,000. */
  readonly leaseTtlMs?: number;
  /**
   * How long any one call of the store may take, in milliseconds, by the clock of the host; ten times as long for those
   * that may go through all that is stored (`rewrite`, `delete`, `list`, `search`). One that takes longer has failed
   * (`StoreError`, whose cause is a `StoreTimeoutError`): the host does not act on what may or may not be written, the thread is let
   * go, and read anew when it is next used. Default 30,000.
   */
  readonly storeTimeoutMs?: number;
  /** How long a thread on which nothing happens stays open, and held, in milliseconds. Shorter where several hosts share threads; each opening reads the journal. Default 5,000. */
  readonly idleMs?: number;
  /**
   * How many threads are worked on at a time: opened, or waiting for their model. One that waits for anything else (its tools,
   * a hook, an approval, a retry) needs no slot, whatever those wait for; so tools, hooks and model handlers may ask other
   * threads of this host. Where all slots are taken, idle threads are closed, least recently used first;
   * others queue, first come first served, behind those that go on with a turn after their tools and those that code
   * of this host waits for. A thread with a queue of asks joins the end of the queue again after each turn, keeping its
   * lease. How many calls of a tool run at a time is the tool's `concurrency`. In a browser, what a model handler asks after
   * its first `await` is not known to be its own, and may wait for the handler's slot. Default 256.
   */
  readonly maxActive?: number;
  /**
   * What becomes of an ask on a thread that another host holds. `enqueue`: it is left in the store's inbox as an inbox item,
   * and followed. `reject`: it rejects with `ThreadHeldError`. Default `enqueue`, where the store has an inbox.
   */
  readonly whenHeld?: "enqueue" | "reject";
  /** How often a thread that is open looks into its inbox, and an ask that is followed for news, in milliseconds. Default 200. */
  readonly pollMs?: number;
  /** How often the shown part of a reply is journalled while it comes, in milliseconds, so that it survives a crash. Null: not. Default null. */
  readonly progressMs?: number | null;
  /** After a crash, what becomes of a reply of which a part was journalled: the model is asked again, or the turn fails and that part is kept. Default `askAgain`. */
  readonly partials?: "askAgain" | "keep";
  /**
   * How often what is shown of a turn is written to the store's log of parts while it goes on, in milliseconds, so that it can be
   * rejoined from other processes (`thread.rejoin`). A turn that is over sooner is not written. Null: not; then a turn is rejoined
   * with all of its deltas in the process that shows it, and elsewhere by its journal. Default null.
   */
  readonly partsMs?: number | null;
  /** How long what was shown of a turn is kept after it, in memory and in that log, in milliseconds. Default 300,000. */
  readonly keepPartsMs?: number;
  /** After how many entries a snapshot of the thread is saved, in the background, so that opening a long one reads little. 0: never. Default 512. */
  readonly snapshotEvery?: number;
  /**
   * Whether this host continues by itself what was under way when a process died: from its first change of a thread on, or from
   * `host.start()`. Then it must be able to continue every thread of the store, with its own machine, model and tools, or every
   * one with some `metadata`. `false`: it continues only threads that are used. Default: `{}`.
   */
  readonly recovery?: RecoveryOptions | false;
}

/** How a conversation is imported. */
export interface ImportOptions {
  readonly threadId?: string;
  readonly metadata?: JsonObject;
}

/** The options of all that performs effects. */
type RunOptions = Pick<
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
  | "maxActive"
>;

/**
 * What the options of all that performs effects come to, with their defaults.
 *
 * @param whose the function that is given them, and `names` all that it may be given.
 * @throws ConfigurationError for one that is missing, unknown or invalid, and where the tools are not those of the machine
 */
export const runContextOf = <Options extends RunOptions>(
  whose: string,
  options: Options,
  names: OptionNames<Options>,
): RunContext => {
  const problem = problemOfOptions(whose, options, names);
  if (problem !== null) throw new ConfigurationError(problem);
  checkKinds<RunOptions>(whose, options, runKinds);
  const problemOfThread = problemOfOptions(`${whose}: thread`, options.thread ?? {}, threadDefaultNames);
  if (problemOfThread !== null) throw new ConfigurationError(problemOfThread);
  checkOptions(`${whose}: hooks`, options.hooks ?? {}, hookKinds);
  const { machine, llm, clock, secrets, maxActive = 256 } = options;
  if (!isConversationMachine(machine))
    throw new ConfigurationError(`${whose}: machine is no conversation machine; conversationMachine() makes one`);
  if (typeof llm !== "function")
    throw new ConfigurationError(`${whose}: llm is of type ${typeof llm}; it must be a function`);
  checkMethods(whose, { clock }, ["clock", "now"], ["clock", "wakeAt"]);
  checkNumbers(whose, ["maxActive", maxActive, 1]);
  const observation = new Observation(options.hooks ?? {}, [...(options.observers ?? [])], options.onObserverError);
  const failed = (thrown: unknown): void => observation.report(thrown, "secrets");
  return {
    machine,
    llm,
    clock,
    active: new ActiveThreads(maxActive),
    tools: toolRegistry(options.tools ?? [], toolsOf(machine)),
    describeThrown: options.describeThrown ?? null,
    secrets: () => [...secretsOf(() => secrets?.(), failed), ...secretsOf(() => llm.secrets?.(), failed)],
    observation,
    toolContext: {},
    threadDefaults: frozenCopy(options.thread ?? {}),
    progressMs: null,
    partials: "askAgain",
  };
};

/** What the options of a host come to, with their defaults. @throws ConfigurationError for one that is invalid */
export const hostContextOf = (options: HostOptions): HostContext => {
  const run = runContextOf("createHost", options, hostOptionNames);
  checkKinds<HostOptions>("createHost", options, {
    toolContext: kinds.object,
    defaultThread: kinds.text,
    whenHeld: kinds.oneOf("enqueue", "reject"),
    partials: kinds.oneOf("askAgain", "keep"),
    recovery: kinds.of("false or an object", (value) => value === false || kinds.object.fits(value)),
  });
  const { recovery = {} } = options;
  if (recovery !== false) checkOptions<RecoveryOptions>("createHost: recovery", recovery, recoveryKinds);
  checkMethods("createHost", options, ["store", "append"], ["store", "acquire"], ["ids", "draw"]);
  const { leaseTtlMs = options.store.leaseTtlMs ?? 30_000 } = options;
  const { ids, storeTimeoutMs = 30_000, idleMs = 5_000 } = options;
  const { pollMs = 200, whenHeld = "enqueue" } = options;
  const { progressMs = null, partials = "askAgain", snapshotEvery = 512 } = options;
  const { partsMs = null, keepPartsMs = 300_000 } = options;
  checkNumbers(
    "createHost",
    [options.leaseTtlMs === undefined ? "leaseTtlMs of the store" : "leaseTtlMs", leaseTtlMs, 3],
    ["storeTimeoutMs", storeTimeoutMs, 1],
    ["idleMs", idleMs, 0],
    ["pollMs", pollMs, 1],
    ["progressMs", progressMs ?? 1, 1],
    ["partsMs", partsMs ?? 1, 1],
    ["keepPartsMs", keepPartsMs, 0],
    ["snapshotEvery", snapshotEvery, 0],
  );
  const { clock, observation } = run;
  const store = storeInTime(options.store, {
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
    whenHeld,
    ids,
    progressMs,
    partials,
    shown: new ShownTurns(clock, keepPartsMs),
    partLogging:
      partsMs === null || store.parts === undefined
        ? null
        : { log: store.parts, clock, everyMs: partsMs, keepMs: keepPartsMs, report },
    snapshotEvery,
    // An engine continues its threads itself.
    recovery: recovery === false || store.engine !== undefined ? null : recovery,
    toolContext: withContext(options.toolContext ?? {}, undefined),
    owner: ids.draw("owner"),
  };
};

export const hostOptionNames: OptionNames<HostOptions> = {
  machine: "required",
  store: "required",
  llm: "required",
  clock: "required",
  ids: "required",
  tools: true,
  toolContext: true,
  thread: true,
  hooks: true,
  observers: true,
  onObserverError: true,
  describeThrown: true,
  secrets: true,
  defaultThread: true,
  leaseTtlMs: true,
  storeTimeoutMs: true,
  idleMs: true,
  maxActive: true,
  whenHeld: true,
  pollMs: true,
  progressMs: true,
  partials: true,
  partsMs: true,
  keepPartsMs: true,
  snapshotEvery: true,
  recovery: true,
};

/** For those who write JavaScript: the parts are what they have to be, as far as that can be seen. */
const checkMethods = (whose: string, options: object, ...methods: readonly (readonly [string, string])[]): void => {
  for (const [part, method] of methods) {
    const type = typeof Reflect.get(Object(Reflect.get(options, part)), method);
    if (type !== "function")
      throw new ConfigurationError(`${whose}: ${part}.${method} is of type ${type}; it must be a function`);
  }
};

const checkNumbers = (
  of: string,
  ...numbers: readonly (readonly [name: string, value: unknown, least: number])[]
): void => {
  for (const [name, value, least] of numbers) checkValue(`${of}: ${name}`, value, kinds.whole(least));
};

const runKinds: Partial<OptionKinds<RunOptions>> = {
  thread: kinds.object,
  hooks: kinds.object,
  observers: kinds.listOf("observers", kinds.object.fits),
  onObserverError: kinds.call,
  describeThrown: kinds.call,
  secrets: kinds.call,
};

const recoveryKinds: OptionKinds<RecoveryOptions> = { metadata: kinds.object, everyMs: kinds.whole(1) };

const hookKinds: OptionKinds<Hooks> = {
  beforeTurn: kinds.call,
  afterTurn: kinds.call,
  beforeStep: kinds.call,
  afterStep: kinds.call,
  beforeToolCall: kinds.call,
  afterToolCall: kinds.call,
};

export const importOptionNames: OptionNames<ImportOptions> = { threadId: true, metadata: true };
