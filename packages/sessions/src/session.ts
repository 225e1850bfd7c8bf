import { BoundSession } from "./bound-session.ts";
import { programHandler } from "./call/handler.ts";
import type { CallHandle, CallOptions } from "./call/call.ts";
import { SessionCore } from "./core/core.ts";
import type { AnyOptions, SessionOptions } from "./core/options.ts";
import type { GivenExchange } from "./program/exchange.ts";
import type { Memory, TurnSummary } from "./program/memory.ts";
import type { Program } from "./program/program.ts";
import type { Records } from "./records.ts";
import type { Signature } from "./program/signature.ts";
import type { SessionTurn } from "./thread/turns.ts";
import type { Trace } from "./nesting/trace.ts";
import type { Checkpoint, HostedThread } from "@colloquy/host";

/**
 * A program with turns, on one thread. Whatever is given to it or comes from it is a copy. What changes the thread by hand is an
 * entry more of its journal each, refused while a call is under way; nothing is ever removed.
 */
export interface Session<
  Given extends object,
  Inputs extends object,
  Result extends object,
  Outputs extends object = Result,
>
  extends Records<Inputs, Result>, AsyncDisposable {
  readonly name: string;
  /** The thread that remembers: for all that threads can do, such as export and redaction. */
  readonly thread: HostedThread;
  /** Calls the program, and records the turn. Within another program, as the option `lifespan` says. */
  call(inputs: Given, options?: CallOptions): CallHandle<Result>;
  /**
   * The same session on a thread of its own, for a user or whatever else has an id. Different ids have different threads,
   * and none of them is one of a nested program.
   *
   * @throws ConfigurationError for an id that is empty, or no text
   */
  user(id: string): Session<Given, Inputs, Result, Outputs>;
  /** What this session remembers under another one, whose program calls it. */
  under(outer: { readonly thread: HostedThread }): Session<Given, Inputs, Result, Outputs>;
  /** The recorded calls in force, oldest first: the newest `maxStoredTurns` of them. */
  turns(): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** How many these are. */
  count(): Promise<number>;
  /** What the next call would be shown. */
  memory(): Promise<Memory>;
  /** The turns of that memory one by one, oldest first: the summary of each, or else its inputs and outputs. */
  summaries(): Promise<readonly TurnSummary[]>;
  /** Takes back the newest calls, as many as there are at most. Gives them, newest first. */
  undo(calls?: number): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Takes back the newest call, and gives it; null where there is none. */
  pop(): Promise<SessionTurn<Inputs, Result> | null>;
  /** Takes an undo back, call by call. Gives them, newest first. */
  redo(calls?: number): Promise<readonly SessionTurn<Inputs, Result>[]>;
  /** Begins anew, with the seed. The turns so far are still there, and may be gone back to. */
  reset(): Promise<void>;
  /** A call that was made elsewhere joins the turns. */
  addTurn(exchange: GivenExchange): Promise<void>;
  /** A copy of the thread up to a turn, by its number; what becomes of one is not seen in the other. Default: all of it. */
  fork(turn?: number): Promise<Session<Given, Inputs, Result, Outputs>>;
  /** Gives the present place a name, to come back to by `restore`. */
  checkpoint(name: string): Promise<void>;
  /** Goes back to a place by its name. Rejects with `RangeError` where there is none of that name. */
  restore(name: string): Promise<void>;
  checkpoints(): Promise<readonly Checkpoint[]>;
  /**
   * From here on, all threads of the session call another program; a call under way ends with the one that it began with. The
   * turns stay. Each turn says whose it is, and the next call on a thread journals the change.
   *
   * @param options `version` is that of the new program. Default: counted up.
   */
  swap(program: Program<Inputs, Outputs>, options?: { readonly version?: string }): void;
  /** What was called within a turn, by its number. Default: the newest. Null where there is no such turn. */
  trace(turn?: number): Promise<Trace | null>;
  /** Continues, in the background, the calls of this program that were under way when a process died. See `Host.start`. */
  start(): void;
  /**
   * A session on a thread that `save` gave, or `fromDspySession`: as it was, and it goes on from there.
   *
   * @param options `threadId` is the id of the new thread. Default: the one that it had.
   * @throws ImportRefusedError for what is no saved session, one of another version or one that is damaged; nothing is
   *   stored. ThreadExistsError where there is such a thread already.
   */
  load(saved: unknown, options?: { readonly threadId?: string }): Promise<Session<Given, Inputs, Result, Outputs>>;
  /** Lets go of all threads of the session. What is under way goes on when it is next used. */
  close(): Promise<void>;
}

/**
 * Gives a program turns: it is the model of its own thread. So each call is an ask, and journalled, queued, cancelled,
 * resumed, forked and redacted as asks are, on every store. It is made once: a program that throws is not called again, and what
 * it threw is what the call rejects with; no turn is recorded then.
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
  // As the overloads have them; what goes in and out is checked by the signature.
  const core = new SessionCore(program, given as AnyOptions, programHandler);
  return new BoundSession(core, core.ground(), { threadId: core.options.threadId ?? core.name, named: false }, null);
}
