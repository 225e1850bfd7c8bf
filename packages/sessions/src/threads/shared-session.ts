import { type HostedThread, type LlmHandler, type Store, ThreadHeldError } from "@colloquy/host";
import { checkValue, kinds } from "@colloquy/host/store";
import {
  ConfigurationError,
  conversationMachine,
  type ConversationMachine,
  type JsonObject,
  lastTurnOf,
  type State,
  type Turn,
} from "@colloquy/machine";
import { createHost, memoryStore, reasonOf } from "@colloquy/runtime-node";
import { draftsOf, exchangesGiven, type PlainExchange, marksOf } from "../program/exchange.ts";
import type { Program } from "../program/program.ts";
import { sessionTurn } from "../turns/turns.ts";
import { type AnyOptions, checkOptions, policyOf } from "./options.ts";
import { SessionRuntime, WaitingCalls } from "./session-runtime.ts";

/** Makes the model of a session's threads in a runtime: it runs the session's program. */
export type HandlerOf = (session: SharedSession, runtime: () => SessionRuntime) => LlmHandler;

/** A thread of a session, which may not exist yet. */
export interface ThreadPlace {
  readonly runtime: SessionRuntime;
  readonly thread: HostedThread;
  /** The creation time of the parent thread; null if there is no parent. */
  readonly parentCreatedAt: number | null;
  /** Returns the system prompt and the metadata with which the thread begins. */
  readonly beginning: () => Promise<{ readonly system?: string; readonly metadata: JsonObject }>;
}

/** Returns the place of a thread without a parent. */
export const placeOn = (runtime: SessionRuntime, thread: HostedThread): ThreadPlace => ({
  runtime,
  thread,
  parentCreatedAt: null,
  beginning: async () => ({ metadata: {} }),
});

/** A program, its options and its runtimes: all that the threads of a session share. */
export class SharedSession {
  readonly options: AnyOptions;
  readonly seed: readonly PlainExchange[];
  readonly machine: ConversationMachine;
  readonly waiting: WaitingCalls = new WaitingCalls();
  #program: Program<never, object>;
  #version: string;
  readonly #handlerOf: HandlerOf;
  readonly #own: Store;
  readonly #runtimes = new Map<Store, Map<LlmHandler | undefined, SessionRuntime>>();

  /** @throws ConfigurationError for invalid options */
  constructor(program: Program<never, object>, options: AnyOptions, handlerOf: HandlerOf) {
    checkOptions(options);
    this.options = options;
    this.seed = exchangesGiven("the seed", options.seed ?? []);
    this.machine = conversationMachine({
      policy: policyOf(options),
      interrupted: "omit",
      retry: { attempts: 1 },
      overlap: options.overlap === "reject" ? { type: "reject" } : { type: "queue", max: mostQueued },
    });
    this.#program = checkedProgram(program);
    this.#version = options.version ?? "1";
    this.#handlerOf = handlerOf;
    this.#own = options.store ?? memoryStore();
  }

  get name(): string {
    return this.options.name;
  }

  /** The program that the next call runs. */
  get program(): Program<never, object> {
    return this.#program;
  }

  get version(): string {
    return this.#version;
  }

  /** Replaces the program for later calls; running calls end with the program that they began with. */
  swap(program: Program<never, object>, version: string = nextVersion(this.#version)): void {
    checkValue("swap: version", version, kinds.text);
    this.#program = checkedProgram(program);
    this.#version = version;
  }

  /**
   * Returns the session's runtime. Within another session, missing options are taken from that one: the store, the
   * model and the host options.
   */
  runtime(outer?: SessionRuntime): SessionRuntime {
    const store = this.options.store ?? outer?.store ?? this.#own;
    const llm = this.options.llm ?? outer?.llm;
    const runtimes = this.#runtimes.get(store) ?? new Map<LlmHandler | undefined, SessionRuntime>();
    this.#runtimes.set(store, runtimes);
    const runtime = runtimes.get(llm) ?? this.#runtimeOn(store, llm, this.options.host ?? outer?.options.host);
    runtimes.set(llm, runtime);
    return runtime;
  }

  /**
   * Begins a thread if necessary, and writes the program's name and version to its metadata, in an entry, if they
   * differ. This is checked before each call: the thread may have been deleted since, here or elsewhere, and an earlier
   * program may be back.
   *
   * @throws ConfigurationError if the parent is a new thread with the id of a deleted one
   */
  async ready({ runtime, thread, parentCreatedAt, beginning }: ThreadPlace): Promise<void> {
    const program = { program: this.name, version: this.#version };
    await unlessHeld(() => runtime.once(thread.id, () => recovered(thread)));
    let state = await thread.state();
    if (state === null) {
      const { metadata, ...rest } = await beginning();
      const seed = this.seed.flatMap(draftsOf);
      if (await runtime.begin(thread, { ...rest, seed, metadata: { ...metadata, ...program } })) return;
      state = await thread.state();
    }
    refuseEarlierParent(state, parentCreatedAt);
    const metadata = state?.context.metadata ?? {};
    if (metadata["program"] !== program.program || metadata["version"] !== program.version)
      await unlessHeld(() => thread.setMetadata({ ...metadata, ...program }));
  }

  /** Reports an error that fails no call, such as one of `onTurn`. */
  report(error: unknown, where: string): void {
    const { onObserverError } = this.options.host ?? {};
    if (onObserverError === undefined) console.error(`Colloquy: ${where} of "${this.name}" failed: ${reasonOf(error)}`);
    else onObserverError(error, where);
  }

  async close(): Promise<void> {
    const runtimes = [...this.#runtimes.values()].flatMap((each) => [...each.values()]);
    await Promise.all(runtimes.map((runtime) => runtime.close()));
  }

  #runtimeOn(store: Store, llm: LlmHandler | undefined, options: AnyOptions["host"]): SessionRuntime {
    const { recovery = {} } = options ?? {};
    const host = createHost({
      ...options,
      recovery: recovery !== false && {
        ...recovery,
        // Other programs may share the store.
        continues: (metadata) => metadata["program"] === this.name && (recovery.continues?.(metadata) ?? true),
      },
      store,
      machine: this.machine,
      llm: this.#handlerOf(this, () => runtime),
      hooks: { afterTurn: ({ threadId, turn }) => this.#ended(host.thread(threadId), turn) },
    });
    const own = { ...this.options, ...(options === undefined ? {} : { host: options }) };
    const runtime: SessionRuntime = new SessionRuntime(own, store, llm, host);
    return runtime;
  }

  /** Runs the work at the end of a turn, also of one that another caller asked; the calls of the turn wait for it. */
  async #ended(thread: HostedThread, turn: Turn): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const { askId } of turn.asks) for (const call of this.waiting.of(thread.id, askId)) call.after(promise);
    const isCompleted = turn.outcome.status === "completed";
    try {
      // Typed by the signature.
      if (isCompleted) await this.options.onTurn?.(sessionTurn(turn) as never);
      else await goBack(thread, turn);
    } catch (thrown) {
      this.report(thrown, isCompleted ? "onTurn" : "going back to before a call that failed");
    } finally {
      resolve();
    }
  }
}

const mostQueued = 1_000;

/**
 * Refuses a nested thread whose parent was deleted and replaced by a thread with the same id. Its content does not
 * belong to the new parent, and may be another user's.
 *
 * @param parentCreatedAt the creation time of the parent; null if there is no parent.
 * @throws ConfigurationError
 */
export const refuseEarlierParent = (nested: State | null, parentCreatedAt: number | null): void => {
  const { threadId = "", metadata = {} } = nested?.context ?? {};
  const { parentThread, parentCreatedAt: kept } = metadata;
  if (parentCreatedAt === null || typeof kept !== "number" || kept === parentCreatedAt) return;
  throw new ConfigurationError(
    `thread "${threadId}" was left by an earlier thread ${JSON.stringify(parentThread)}, which was deleted: delete it, too, or use another id for the new one`,
  );
};

/** Moves the head back to the old conversation if a call that began it again has failed. */
const goBack = async (thread: HostedThread, turn: Turn): Promise<void> => {
  const { replaced } = marksOf(turn);
  if (replaced !== undefined && turn.outcome.status !== "completed") await thread.moveHead(replaced);
};

/**
 * Waits for a call that began the conversation again and continues after a crash. If it fails, moves the head back, so
 * that the next call follows the old conversation.
 */
const recovered = async (thread: HostedThread): Promise<void> => {
  const open = (await thread.state())?.context.open ?? null;
  if (open !== null && marksOf(open).replaced !== undefined) await (await thread.resume()).turn?.catch(() => null);
  const state = await thread.state();
  const head = state === null ? undefined : lastTurnOf(state);
  if (head !== undefined) await goBack(thread, head);
};

/** Does the work, unless another host holds the thread's lease; then that host does it. */
const unlessHeld = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof ThreadHeldError)) throw thrown;
  }
};

const checkedProgram = (program: Program<never, object>): Program<never, object> => {
  // Callers in JavaScript may pass anything.
  const made: unknown = typeof program === "function" ? program : Reflect.get(Object(program), "forward");
  if (typeof made === "function") return program;
  throw new ConfigurationError(
    `session: the program is of type ${typeof program}; it must be a function, or an object with a method "forward"`,
  );
};

/** Returns "2" for "1", and "beta+1" for "beta". */
const nextVersion = (version: string): string => {
  const [, stem = "", count = ""] = /^(.*?)(\d*)$/s.exec(version) ?? [];
  return count === "" ? `${stem}+1` : `${stem}${Number(count) + 1}`;
};
