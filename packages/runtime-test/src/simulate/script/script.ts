import type { AskInput, AskOptions, HostOptions, ThreadDefaults, Tool } from "@colloquy/host";
import type { CallLlm, Event, Limits, MachineOptions, OverlapType } from "@colloquy/machine";
import type { ScriptLine } from "../../models/index.ts";

/** A conversation to simulate. */
export interface Script {
  /** The actions, one after the other. */
  readonly actions: readonly Action[];
  /**
   * Returns the model's reply to a call. It should depend only on the call, so that a crash changes nothing. It also
   * gets the calls for summaries, which have that purpose. Default: generated replies.
   */
  readonly reply?: (call: CallLlm) => ScriptLine;
  /**
   * The tools. Default: four simulated ones, `lookup` and `search` (to be rerun), `note` (interrupted) and `pay`
   * (once).
   */
  readonly tools?: readonly Tool[];
  /** The options of the machine, without its tools. Default {}. */
  readonly machine?: Omit<MachineOptions, "tools">;
  /** The options of hosts that the simulation does not set. Default {}. */
  readonly host?: Pick<HostOptions, "whenHeld" | "pollMs" | "progressMs" | "partials" | "snapshotEvery">;
  /** The initial values of the thread. Default: none. */
  readonly thread?: ThreadDefaults;
}

/** An action of a user, or an event of the process, `afterMs` after the previous one (default 0). */
export type Action = { readonly afterMs?: number } & (
  | AskAction
  /** Asks within the open turn; refused if none is open. */
  | { readonly type: "steer"; readonly input: AskInput }
  /** Aborts an ask, by its place among the asks of the script, from 0. */
  | { readonly type: "abort"; readonly ask: number }
  /** Cancels the open turn, whichever ask opened it. */
  | { readonly type: "cancel" }
  /** Sends any event; `at` is added. It may be refused. */
  | { readonly type: "send"; readonly event: EventWithoutTime }
  /** Redacts a turn, if it exists and none is open. */
  | { readonly type: "redact"; readonly turn: number }
  /** Asks on another thread of the same host. */
  | { readonly type: "errand" }
  /** Waits until all asks so far have ended, for `withinMs` at most (default 400). */
  | { readonly type: "settle"; readonly withinMs?: number }
  | { readonly type: "crash" }
  | { readonly type: "pause"; readonly forMs: number }
);

/** An ask. If it is rejected because the host went away, it is repeated under its id. */
export interface AskAction {
  readonly type: "ask";
  readonly input: AskInput;
  readonly limits?: Limits;
  /** The behaviour of the ask while a turn is open. Default: the machine's setting. */
  readonly overlap?: OverlapType;
  /** The output that the answer must have, an even number, and how often it may be repaired. Default: none. */
  readonly output?: { readonly repairs: number };
  /** The turn after which it opens its own. Default: the head. */
  readonly from?: number;
  /** Tools that the host does not run: the caller answers their calls after a delay. */
  readonly tools?: NonNullable<AskOptions["tools"]>;
  /** The place of an earlier ask of the script, from 0, whose id it repeats. Default: a new id. */
  readonly again?: number;
}

export type EventWithoutTime = Event extends infer Each ? (Each extends Event ? Omit<Each, "at"> : never) : never;
