import type { Event, ThreadStarted } from "./event.ts";
import type { ContentPart, ToolOutcome } from "../../thread/message.ts";
import type { Cut } from "../../prompt/cut.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import type { ContextUnfit, LimitReached } from "../../thread/turn.ts";
import type { Cost } from "../../thread/usage.ts";

/**
 * An accepted event with the decision about it. The entries of a thread in order of `seq` are its journal: the only
 * source of truth. Requests are not recorded, since they follow from it.
 */
export type Entry = FirstEntry | LaterEntry;

/** The first entry of every journal. */
export interface FirstEntry {
  readonly seq: 0;
  readonly format: typeof journalFormat;
  readonly event: ThreadStarted;
  readonly redacted?: true;
}

export interface LaterEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event: Event;
  /** The decision of the configuration; absent if the event needed none. */
  readonly decided?: Decided;
  /** Written by a recovery in place of an answer that a crash lost. */
  readonly recovered?: true;
  /** Its content was redacted later. */
  readonly redacted?: true;
}

/** Returns whether an entry comes after the first one. */
export const isLater = (entry: Entry): entry is LaterEntry => entry.event.type !== "thread.started";

/** The format of journals. Journals of older and newer formats are refused. */
export const journalFormat = 2;

/** The decision of the configuration about an event: everything that folding needs and the event does not contain. */
export interface Decided {
  /** The ask waits; its place in the queue, from 1. */
  readonly queued?: number;
  /** The waiting asks are dropped in favour of this one. */
  readonly supersedes?: true;
  /** The open turn is cancelled in favour of this ask. */
  readonly interrupts?: true;
  /** The ask joins the open turn: the next prompt shows it. */
  readonly joins?: true;
  /** A turn that has its answer continues, because asks that joined it wait to be shown. */
  readonly goesOn?: true;
  /** The number of waiting asks that the opened turn answers; absent for one. */
  readonly opens?: number;
  /** The calls of the reply that need approval, by position. */
  readonly approvals?: readonly number[];
  /** The deadline of the turn that this entry opens. */
  readonly deadlineAt?: number;
  /** The cut of the model call that this entry asks for; absent if it equals the last one. */
  readonly cut?: Cut;
  /** The failed call is retried. */
  readonly retry?: { readonly attempt: number; readonly dueAt: number };
  /** The prompt was too long for the server. The room for prompts from here on, in the counter's tokens. */
  readonly room?: number;
  /** The reply cannot be the requested output, and is not checked; the turn ends here. */
  readonly unchecked?: "refused" | "cut";
  /** Results of calls that are answered without running a tool, by position. */
  readonly results?: readonly SynthesisedResult[];
  /** The turn ends here. */
  readonly limit?: LimitReached;
  /** The turn ends here because its next prompt does not fit. */
  readonly unfit?: ContextUnfit;
  /** The next call waits for a summary, at most until `dueAt`. */
  readonly compacting?: { readonly dueAt: number };
  /** A summary is asked for. */
  readonly summary?: SummaryTask;
  /** The reason why the outcome of a summary call is not used. */
  readonly summaryFailed?: string;
  /** The pending summary is cancelled, because its turns left the path or changed. */
  readonly summaryStale?: true;
  /** The grade of the prompt, if it differs from the last one. */
  readonly fullness?: { readonly is: Fullness; readonly tokens: number; readonly available: number };
  /** The counted tokens of the prompt, if its size can calibrate the counter. */
  readonly counted?: number;
  readonly cost?: Cost;
  /**
   * The reason why the policy failed and everything was kept; or why a wanted summary is impossible, or why the
   * counter failed. In the last two cases nothing was replaced.
   */
  readonly policyFailed?: string;
  /** The length of the kept text of a truncated answer, in UTF-16 units. */
  readonly kept?: number;
}

/** A result that the machine gives in place of a tool's. */
export interface SynthesisedResult {
  readonly position: number;
  readonly outcome: Exclude<ToolOutcome, "completed">;
  readonly content: readonly ContentPart[];
}

/** The grade of a prompt by its share of the room. `at_limit` also if something was just left out for lack of room. */
export type Fullness = "within" | "approaching_limit" | "at_limit";
