import type { Checkpoint, HostedThread } from "@colloquy/host";
import { promptOf, start, type State, type Turn, turnsOf } from "@colloquy/machine";
import { summarySections } from "@colloquy/machine/hosting";
import { draftsOf, exchangesGiven, type GivenExchange } from "./program/exchange.ts";
import { type Memory, memoryOf, summariesIn, type TurnSummary } from "./program/memory.ts";
import type { Program, Signature } from "./program/program.ts";
import { type Records, ThreadRecords } from "./records.ts";
import { beginCall, type CallHandle, type CallOptions } from "./run/call.ts";
import { pastMemory, threadIdOfUser, threadIdUnder, type Where } from "./run/place.ts";
import { programHandler } from "./run/program-handler.ts";
import { type Trace, traceOf } from "./run/trace.ts";
import { journalIn } from "./saved/saved-session.ts";
import { type AnyOptions, type SessionOptions, mostShown } from "./threads/options.ts";
import { placeOn, SharedSession } from "./threads/shared-session.ts";
import { isRecorded, type SessionTurn, sessionTurn, sessionTurns } from "./turns/turns.ts";

/**
 * A program with turns, on one thread. All values that it takes and returns are copied. Each manual change of the
 * thread adds one entry to its journal, and is refused while a call is running; nothing is ever removed.
 */
export interface Session<
  Given extends object,
  Inputs extends object,
  Result extends object,
  Outputs extends object = Result,
>
  extends Records<Inputs, Result>, AsyncDisposable {
  readonly name: string;
  /** The thread that records the calls, for all functions of threads, such as export and redaction. */
  readonly thread: HostedThread;
  /** Calls the program, and records the turn. Within another program, the option `lifespan` applies. */
  call(inputs: Given, options?: CallOptions): CallHandle<Result>;
  /**
   * Returns the same session on a separate thread for a user, or for anything else with an id. Different ids have
   * different threads, and none is a thread of a nested program.
   *
   * @throws ConfigurationError for an id that is empty, or not a text
   */
  user(id: string): Session<Given, Inputs, Result, Outputs>;
  /** Returns the view of this session's memory under another session, whose program calls it. */
  under(outer: { readonly thread: HostedThread }): Session<Given, Inputs, Result, Outputs>;
  /** Returns the recorded calls in force, oldest first: the newest `maxStoredTurns` of them. */
  turns(): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Returns the number of these calls. */
  count(): Promise<number>;
  /** Returns the memory that the next call would see. */
  memory(): Promise<Memory>;
  /**
   * Returns the turns of that memory one by one, oldest first: the summary of each, otherwise its inputs and outputs.
   */
  summaries(): Promise<readonly TurnSummary[]>;
  /** Takes back the newest calls, or all if there are fewer. Returns them, newest first. */
  undo(calls?: number): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Takes back the newest call, and returns it; null if there is none. */
  pop(): Promise<SessionTurn<Inputs, Result> | null>;
  /** Takes an undo back, call by call. Returns the calls, newest first. */
  redo(calls?: number): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Begins again, with the seed. The earlier turns are kept, and the session can return to them. */
  reset(): Promise<void>;
  /** Adds a call that was made elsewhere to the turns. */
  addTurn(exchange: GivenExchange): Promise<void>;
  /**
   * Returns a fork of the thread up to a turn, by its number; changes of one do not affect the other. Default: up to
   * its end.
   */
  fork(turn?: number): Promise<Session<Given, Inputs, Result, Outputs>>;
  /** Gives the present place a name for `restore`. */
  checkpoint(name: string): Promise<void>;
  /** Returns to a named place. Rejects with `RangeError` if the name is unknown. */
  restore(name: string): Promise<void>;
  checkpoints(): Promise<readonly Checkpoint[]>;
  /**
   * Replaces the program for later calls on all threads of the session; a running call ends with the program that it
   * began with. The turns stay. Each turn names its program, and the next call on a thread journals the change.
   *
   * @param options `version` is that of the new program. Default: incremented.
   */
  swap(program: Program<Inputs, Outputs>, options?: { readonly version?: string }): void;
  /** Returns the calls within a turn, by its number. Default: the newest. Null if the turn does not exist. */
  trace(turn?: number): Promise<Trace | null>;
  /** Continues, in the background, the calls of this program that were under way when a process died. See `Host.start`. */
  start(): void;
  /**
   * Returns a session on a new thread from the result of `save` or `fromDspySession`. It is unchanged, and can
   * continue.
   *
   * @param options `threadId` is the id of the new thread. Default: its old id.
   * @throws ImportRefusedError if it is not a saved session, or has another version, or is damaged; nothing is stored.
   * ThreadExistsError if the thread exists already.
   */
  load(saved: unknown, options?: { readonly threadId?: string }): Promise<Session<Given, Inputs, Result, Outputs>>;
  /** Releases all threads of the session. A running call continues at the next use. */
  close(): Promise<void>;
}

/**
 * Gives a program turns: it is the model of its own thread. So each call is an ask, and is journalled, queued,
 * cancelled, resumed, forked and redacted like any ask, on every store. It is attempted once: a program that throws is
 * not called again, and the call rejects with its error. No turn is recorded then.
 *
 * @throws ConfigurationError for options that are missing, unknown or invalid
 */
export function session<Inputs extends object, Outputs extends object>(
  program: Program<Inputs, Outputs>,
  options: SessionOptions<Inputs, Inputs, Outputs, Outputs> & { readonly signature?: undefined },
): Session<Inputs, Inputs, Outputs>;
export function session<Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  program: Program<NoInfer<Inputs>, NoInfer<Outputs>>,
  options: SessionOptions<Given, Inputs, Outputs, Result> & {
    readonly signature: Signature<Given, Inputs, Outputs, Result>;
  },
): Session<Given, Inputs, Result, Outputs>;
export function session(program: Program<never, object>, given: object): Session<object, object, object> {
  // Typed by the overloads; the signature checks inputs and outputs.
  const shared = new SharedSession(program, given as AnyOptions, programHandler);
  return new ThreadSession(
    shared,
    { threadId: shared.options.threadId ?? shared.name, named: false, runtime: shared.runtime() },
    null,
  );
}

/** A session on one of its threads. It is untyped; `session` adds the types. */
class ThreadSession extends ThreadRecords implements Session<object, object, object> {
  readonly name: string;
  readonly #session: SharedSession;
  readonly #where: Where;
  /** The thread of the outer session under which this one is viewed; null if it is viewed by itself. */
  readonly #outer: string | null;

  constructor(session: SharedSession, where: Where, outer: string | null) {
    super(session, where.runtime.host.thread(where.threadId));
    this.name = session.name;
    this.#session = session;
    this.#where = where;
    this.#outer = outer;
  }

  call(inputs: object, options?: CallOptions): CallHandle<object> {
    return beginCall(this.#session, this.#where, inputs, options);
  }

  user(id: string): ThreadSession {
    return this.#on(threadIdOfUser(this.name, id));
  }

  under(outer: { readonly thread: HostedThread }): ThreadSession {
    const { id } = outer.thread;
    const runtime = this.#session.runtime(outer instanceof ThreadSession ? outer.#where.runtime : undefined);
    return new ThreadSession(this.#session, { threadId: threadIdUnder(id, this.name), named: true, runtime }, id);
  }

  async turns(): Promise<readonly SessionTurn[]> {
    return sessionTurns(await this.thread.state(), this.#session.options.maxStoredTurns);
  }

  async count(): Promise<number> {
    return (await this.turns()).length;
  }

  async memory(): Promise<Memory> {
    return this.#memoryIn(await this.#state());
  }

  async summaries(): Promise<readonly TurnSummary[]> {
    const state = await this.#state();
    const { cut } = promptOf(this.#session.machine, state);
    const sections =
      cut.summarised === undefined ? [] : summarySections(state.context.conversation, cut.summarised, cut);
    return summariesIn(this.#memoryIn(state), sections);
  }

  undo(calls = 1): Promise<readonly SessionTurn[]> {
    return this.#move(() => undoCalls(this.thread, calls));
  }

  async pop(): Promise<SessionTurn | null> {
    return (await this.undo())[0] ?? null;
  }

  redo(calls = 1): Promise<readonly SessionTurn[]> {
    return this.#move(() => redoCalls(this.thread, calls));
  }

  async reset(): Promise<void> {
    await this.#ready();
    await this.thread.clear();
  }

  async addTurn(exchange: GivenExchange): Promise<void> {
    const drafts = exchangesGiven("the turn", [exchange]).flatMap(draftsOf);
    await this.#ready();
    await this.thread.addTurn(drafts);
  }

  async fork(turn?: number): Promise<ThreadSession> {
    await this.#ready();
    const { thread } = await this.thread.fork(turn === undefined ? {} : { turn });
    return this.#on(thread.id);
  }

  async checkpoint(name: string): Promise<void> {
    await this.#ready();
    await this.thread.checkpoint(name);
  }

  async restore(name: string): Promise<void> {
    const names = (await this.checkpoints()).map((checkpoint) => checkpoint.name);
    if (!names.includes(name))
      throw new RangeError(
        `the checkpoint ${JSON.stringify(name)} was not found; there are: ${names.join(", ") || "none"}`,
      );
    await this.thread.restore(name);
  }

  checkpoints(): Promise<readonly Checkpoint[]> {
    return this.thread.checkpoints();
  }

  swap(program: Program<never, object>, options: { readonly version?: string } = {}): void {
    this.#session.swap(program, options.version);
  }

  async trace(turn?: number): Promise<Trace | null> {
    const number = turn ?? (await this.turns()).at(-1)?.number;
    return number === undefined ? null : traceOf(this.#where.runtime.host, this.thread.id, number, this.name);
  }

  async load(saved: unknown, options?: { readonly threadId?: string }): Promise<ThreadSession> {
    return this.#on((await this.#where.runtime.host.importJournal(journalIn(saved, options?.threadId), options)).id);
  }

  start(): void {
    this.#where.runtime.host.start();
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #on(threadId: string): ThreadSession {
    return new ThreadSession(this.#session, { ...this.#where, threadId, named: true }, null);
  }

  /** Moves the head, one move after the other: two at once would take back the same call. */
  #move<Moved>(move: () => Promise<Moved>): Promise<Moved> {
    return this.#where.runtime.lanes.run(`the head of ${this.thread.id}`, move);
  }

  #ready(): Promise<void> {
    return this.#session.ready(placeOn(this.#where.runtime, this.thread));
  }

  #memoryIn(state: State): Memory {
    const { machine, options } = this.#session;
    const { messages } = promptOf(machine, state);
    return memoryOf(state.context.open === null ? messages : messages.slice(0, -1), mostShown(options));
  }

  async #state(): Promise<State> {
    return (await this.thread.state()) ?? this.#begun();
  }

  /** Returns the state of the thread, or the state that it will have at its first call. */
  async #begun(): Promise<State> {
    const parent = this.#session.options.lifespan === "episodic" ? this.#outer : null;
    const past = parent === null ? "" : await pastMemory(this.#where.runtime.host, parent, this.name);
    const system = past === "" ? {} : { system: past };
    const seed = this.#session.seed.flatMap(draftsOf);
    return start(this.#session.machine, { threadId: this.thread.id, at: 0, seed, ...system }).state;
  }
}

/** Takes back the newest recorded calls, and the failed turns between them. Returns them, newest first. */
const undoCalls = async (thread: HostedThread, calls: number): Promise<readonly SessionTurn[]> => {
  checkCalls("undo", calls);
  const state = await thread.state();
  const undone = state === null || calls === 0 ? [] : turnsOf(state).filter(isRecorded).slice(-calls);
  const [oldest] = undone;
  if (oldest !== undefined) await thread.moveHead(oldest.parent);
  return undone.map(sessionTurn).reverse();
};

/**
 * Moves towards the newest call that continues from here, by `calls` calls or fewer if there are no more. Returns them,
 * newest first.
 */
const redoCalls = async (thread: HostedThread, calls: number): Promise<readonly SessionTurn[]> => {
  checkCalls("redo", calls);
  const redone: Turn[] = [];
  if ((await thread.state()) === null) return redone.map(sessionTurn);
  while (redone.length < calls) {
    const [next] = await thread.redo(1);
    if (next === undefined) break;
    if (isRecorded(next)) redone.unshift(next);
  }
  return redone.map(sessionTurn);
};

const checkCalls = (name: string, calls: number): void => {
  if (!(Number.isSafeInteger(calls) && calls >= 0))
    throw new RangeError(`${name}: the number of calls is ${calls}; it must be a whole number, 0 or more`);
};
