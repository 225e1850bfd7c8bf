import type { LlmHandler, Store, Tool } from "@colloquy/host";
import type { HostOptions } from "@colloquy/runtime-node";
import type { GivenExchange } from "../program/fields.ts";
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
  readonly signature?: Signature<Given, Inputs, Outputs, Result>;
  /** Default: in memory, until the process ends. */
  readonly store?: Store;
  /** The thread of calls for no user. Default: the name. */
  readonly threadId?: string;
  /** Exchanges that each thread begins with; a reset keeps them. */
  readonly seed?: readonly GivenExchange[];
  /** How many of the newest exchanges a program sees; 0 shows none. Default: all. */
  readonly maxTurns?: number;
  /** How many of the newest turns count as there at all: a view, nothing is deleted. Default: all. */
  readonly maxStoredTurns?: number;
  /** Fields that no memory shows; stronger than `onlyInputFields`. */
  readonly excludeFields?: readonly string[];
  /** Of earlier inputs, memory shows these alone. */
  readonly onlyInputFields?: readonly string[];
  /** Has earlier turns summarised, by `summariser` or by `llm`. Default: shown as they are. */
  readonly compression?: "concise" | "verbose" | { readonly instruction: string };
  readonly summariser?: Summariser;
  /** What memory says of the outputs, in their place. */
  describe?(inputs: Inputs, outputs: Result): string;
  /** What becomes of a call while another one is under way on the thread. Default `queue`. */
  readonly overlap?: "queue" | "reject";
  /** What the session remembers as part of another program. Default `persistent`. */
  readonly lifespan?: "persistent" | "episodic" | "shared" | "stateless";
  /** Of an episodic session: what is kept of an episode when it ends. */
  consolidate?(pastMemory: string, transcript: readonly SessionTurn<Inputs, Result>[]): string | Promise<string>;
  /** Called when a turn was completed. What it throws is reported, and costs no call. */
  onTurn?(turn: SessionTurn<Inputs, Result>): unknown;
  /** The model that the program's own calls go to, and summaries where there is no `summariser`. */
  readonly llm?: LlmHandler;
  /** The tools of these calls. */
  readonly tools?: readonly Tool[];
  /** What else the hosts of the session run with. */
  readonly host?: Omit<
    HostOptions,
    "llm" | "machine" | "store" | "tools" | "system" | "thread" | "hooks" | "defaultThread"
  >;
}

/** Writes what memory says of a turn. */
export type Summariser = (turn: {
  /** What there is of the turn, and of the summaries before it. */
  readonly text: string;
  /** How to summarise it. */
  readonly instruction: string;
  readonly signal: AbortSignal;
}) => string | Promise<string>;
