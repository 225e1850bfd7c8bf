import type { Event, ThreadStarted } from "./event.ts";
import type { ContentPart, ToolOutcome } from "../../thread/message.ts";
import type { Cut } from "../../prompt/cut.ts";
import type { SummaryTask } from "../../prompt/policy.ts";
import type { ContextUnfit, LimitReached } from "../../thread/turn.ts";
import type { Cost } from "../../thread/usage.ts";

/**
 * An accepted event with what was decided about it. The entries of a thread in order of `seq` are its
 * journal: the only source of truth. Requests are not recorded; they follow from it.
 */
export type Entry = FirstEntry | LaterEntry;

/** How every journal begins. */
export interface FirstEntry {
  readonly seq: 0;
  readonly format: typeof firstFormat;
  readonly event: ThreadStarted;
  readonly redacted?: true;
}

export interface LaterEntry {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event: Event;
  /** What the configuration decided; absent when nothing was to decide. */
  readonly decided?: Decided;
  /** Written by a recovery in place of an answer that a crash swallowed. */
  readonly recovered?: true;
  /** Its words were taken out afterwards. */
  readonly redacted?: true;
}

/** Whether an entry is none that begins a journal. */
export const isLater = (entry: Entry): entry is LaterEntry => entry.event.type !== "thread.started";

/** The format with which every journal begins. It rises by a `thread.configured` entry before the first event that needs a later one. */
export const firstFormat = 1;

/** The newest format that this version reads and writes. Newer ones are refused. */
export const journalFormat = 2;

/** What a decision of the configuration added to an event: all that folding needs and the event does not say. */
export interface Decided {
  /** The ask waits; its place in the queue, from 1. */
  readonly queued?: number;
  /** The asks that wait are dropped in favour of this one. */
  readonly supersedes?: true;
  /** The open turn is cancelled in favour of this ask. */
  readonly interrupts?: true;
  /** The ask joins the open turn: the next prompt shows it. */
  readonly joins?: true;
  /** A turn that has its answer goes on, because asks that joined it wait to be shown. */
  readonly goesOn?: true;
  /** How many of the asks that wait the turn answers that this entry opens; absent for one. */
  readonly opens?: number;
  /** The calls of the reply that need approval, by position. */
  readonly approvals?: readonly number[];
  /** When the turn that this entry opens must have ended. */
  readonly deadlineAt?: number;
  /** What the prompt of the call that this entry asks for shows; absent when it is the last one again. */
  readonly cut?: Cut;
  /** The failed call is made again. */
  readonly retry?: { readonly attempt: number; readonly dueAt: number };
  /** The prompt was too long for the server: the tokens, as the counter counts them, that prompts have from here on. */
  readonly room?: number;
  /** The reply can't be the output that was asked for, and is not checked; the turn ends here. */
  readonly unchecked?: "refused" | "cut";
  /** Calls that are answered without running anything, by position. */
  readonly results?: readonly SynthesisedResult[];
  /** The turn ends here. */
  readonly limit?: LimitReached;
  /** The turn ends here: its next prompt does not fit. */
  readonly unfit?: ContextUnfit;
  /** The next call waits for a summary, until then at most. */
  readonly compacting?: { readonly dueAt: number };
  /** A summary is asked for. */
  readonly summary?: SummaryTask;
  /** The summary that came, or did not, is not used: why. */
  readonly summaryFailed?: string;
  /** The outstanding summary is called off: its turns are off the path, or are no longer what they were. */
  readonly summaryStale?: true;
  /** How full the prompt is, where that is another grade than the last one's. */
  readonly fullness?: { readonly is: Fullness; readonly tokens: number; readonly available: number };
  /** Tokens that the prompt was counted at, where its size can calibrate the counter. */
  readonly counted?: number;
  readonly cost?: Cost;
  /** Why the policy could not be used, and all was kept instead; or why a summary that it wanted can't be, or that the counter could not count the prompt, and nothing was replaced. */
  readonly policyFailed?: string;
  /** How much of a truncated answer's text stays, in UTF-16 units. */
  readonly kept?: number;
}

/** A result that the machine gives in a tool's place. */
export interface SynthesisedResult {
  readonly position: number;
  readonly outcome: Exclude<ToolOutcome, "completed">;
  readonly content: readonly ContentPart[];
}

/** How full a prompt is, as shares of what there is room for; `at_limit` also where something had just to be left out for want of room. */
export type Fullness = "within" | "approaching_limit" | "at_limit";
