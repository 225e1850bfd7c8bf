import type { LlmHandler, Store, Tool } from "@colloquy/host";
import type { HostOptions } from "@colloquy/runtime-node";
import type { GivenExchange } from "../program/exchange.ts";
import type { Signature } from "../program/signature.ts";
import type { SessionTurn } from "../thread/turns.ts";

/** How a program is given turns. */
export interface SessionOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> {
  /** Of the program: its threads are named after it, and its turns say it. */
  readonly name: string;
  /** Of the program. Default "1". */
  readonly version?: string;
  /** What goes in and what comes out: both are checked, and typed. Default: any fields. */
  readonly signature?: Signature<Given, Inputs, Outputs, Result>;
  /** Default: in memory, until the process ends; within another program, the store of that one. */
  readonly store?: Store;
  /** The thread of calls for no user. Default: the name. */
  readonly threadId?: string;
  /** Exchanges that each thread begins with. A reset keeps them. They count as the oldest turn. */
  readonly seed?: readonly GivenExchange[];
  /** How many of the newest exchanges a program sees; 0 shows none. Default: all, with `compression` 20. */
  readonly maxTurns?: number;
  /** How many of the newest turns count as there at all. A view: none is deleted, and their numbers stay. Default: all. */
  readonly maxStoredTurns?: number;
  /** Fields that no memory shows; stronger than `onlyInputFields`. */
  readonly excludeFields?: readonly string[] | ReadonlySet<string>;
  /** Of earlier inputs, memory shows these alone. */
  readonly onlyInputFields?: readonly string[] | ReadonlySet<string>;
  /** Has earlier turns summarised, by `summariser` or else by `llm`. Default: they are shown as they are. */
  readonly compression?: "concise" | "verbose" | { readonly instruction: string };
  readonly summariser?: Summariser;
  /** What memory and summaries say of the outputs, in their place. It sees no memory. */
  describe?(inputs: Inputs, outputs: Result): string;
  /** What becomes of a call while another one is under way on the thread. Default `queue`. */
  readonly overlap?: "queue" | "reject";
  /**
   * What the session remembers when another program calls it. `persistent`: all calls under the thread of that one.
   * `episodic`: those of one call of that one; what `consolidate` makes of them opens the next episode. `shared`: nothing
   * of its own, it sees the memory of that one. `stateless`: nothing. Default `persistent`.
   */
  readonly lifespan?: "persistent" | "episodic" | "shared" | "stateless";
  /** What is kept of an episode when it ends; `pastMemory` is what was kept of those before, or "". */
  consolidate?(pastMemory: string, transcript: readonly SessionTurn<Inputs, Result>[]): string | Promise<string>;
  /** Called when a turn was completed, and waited for by its call. What it throws is reported, and costs no call. */
  onTurn?(turn: SessionTurn<Inputs, Result>): unknown;
  /** The model that the program's own calls go to, and summaries where there is no `summariser`. */
  readonly llm?: LlmHandler;
  /** The tools of these calls. */
  readonly tools?: readonly Tool[];
  /** What else the hosts of the session run with. Default: as the hosts of the program that calls it. */
  readonly host?: Omit<
    HostOptions,
    "llm" | "machine" | "store" | "tools" | "system" | "thread" | "hooks" | "defaultThread"
  >;
}

/** Writes what memory says of a turn. One that throws is tried once more; then a line made by rule stands there. */
export type Summariser = (turn: {
  /** What there is of the turn, behind the summaries before it. */
  readonly text: string;
  /** How to summarise it: ours, concise or verbose, or the one that was given. */
  readonly instruction: string;
  readonly signal: AbortSignal;
}) => string | Promise<string>;

/** The options of any session, its types left aside: what goes in and out is checked by its signature. */
export type AnyOptions = SessionOptions<never, never, object, object>;
