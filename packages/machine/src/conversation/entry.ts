import type { Decided, Event, ThreadStarted } from "./event.ts";

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
