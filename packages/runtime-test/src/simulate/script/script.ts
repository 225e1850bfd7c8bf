import type { AskInput, AskOptions, HostOptions, ThreadDefaults, Tool } from "@colloquy/host";
import type { CallLlm, Event, Limits, MachineOptions, OverlapType } from "@colloquy/machine";
import type { ScriptLine } from "../../models/index.ts";

/** A conversation to simulate. */
export interface Script {
  /** What is done, one after the other. */
  readonly actions: readonly Action[];
  /** What the model does. Should depend on nothing but the call, so that a crash changes nothing. It is asked for summaries too, by calls of that purpose. Default: made up. */
  readonly reply?: (call: CallLlm) => ScriptLine;
  /** Default: four simulated ones, `lookup` and `search` (to be rerun), `note` (interrupted) and `pay` (once). */
  readonly tools?: readonly Tool[];
  /** How the machine decides, its tools left out. Default {}. */
  readonly machine?: Omit<MachineOptions, "tools">;
  /** How hosts are configured, as far as the simulation leaves that open. Default {}. */
  readonly host?: Pick<HostOptions, "whenHeld" | "pollMs" | "progressMs" | "partials" | "snapshotEvery" | "maxActive">;
  /** What the thread begins with. Default: nothing. */
  readonly thread?: ThreadDefaults;
}

/** Something that a user does, or that happens to the process, `afterMs` after the one before (default 0). */
export type Action = { readonly afterMs?: number } & (
  | AskAction
  /** Something for the turn that is open; refused where none is. */
  | { readonly type: "steer"; readonly input: AskInput }
  /** The user gives up on an ask, by its place among the asks of the script, from 0. */
  | { readonly type: "abort"; readonly ask: number }
  /** The open turn is cancelled, whichever ask opened it. */
  | { readonly type: "cancel" }
  /** Any event; `at` is added. One that is refused is refused. */
  | { readonly type: "send"; readonly event: EventWithoutTime }
  /** The words of a turn are taken out, where there is such a turn and none is open. */
  | { readonly type: "redact"; readonly turn: number }
  /** Something is asked on another thread of the same host. */
  | { readonly type: "errand" }
  /** Waits until all asks so far have come to an end, at most so long (default 400). */
  | { readonly type: "settle"; readonly withinMs?: number }
  /** The process dies, and another is started. */
  | { readonly type: "crash" }
  /** The process stands still. */
  | { readonly type: "pause"; readonly forMs: number }
);

/** An ask. One that is rejected because the host went away is asked again, under its id. */
export interface AskAction {
  readonly type: "ask";
  readonly input: AskInput;
  readonly limits?: Limits;
  /** What becomes of it while a turn is open. Default: as the machine says. */
  readonly overlap?: OverlapType;
  /** Its answer has to be an output, an even number, which may be mended so often. Default: any answer will do. */
  readonly output?: { readonly repairs: number };
  /** The turn behind which it opens its own. Default: the head. */
  readonly from?: number;
  /** Tools that the host does not run: the caller answers their calls by and by. */
  readonly tools?: NonNullable<AskOptions["tools"]>;
  /** The id of an earlier ask of the script, by its place from 0: asked twice. Default: one of its own. */
  readonly again?: number;
}

export type EventWithoutTime = Event extends infer Each ? (Each extends Event ? Omit<Each, "at"> : never) : never;
