import type { Repetition, ShownReply } from "@colloquy/host/perform";
import type { Lease } from "@colloquy/host/store";
import type { Entry, Event, Refusal, ThreadStarted } from "@colloquy/machine";
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";

/** The handlers of a thread, which is an object of Restate with the id of the thread as its key. None that holds the key ever waits. */
export interface ThreadHandlers {
  /** Has the machine handle an event. Exclusive. */
  readonly tell: (context: ObjectContext, mail: Mail) => Promise<Told>;
  /** The same for an event that cuts off a reply: what was shown of it goes with it. */
  readonly cut: (context: ObjectSharedContext, cut: Cut) => Promise<Told>;
  /** Performs an effect, and tells what came of it. Not to be called from outside. */
  readonly perform: (context: ObjectSharedContext, task: Task) => Promise<void>;
  /** The entries from a seq on, with all that anybody heard of: one that is shown while it is told is there. Exclusive, as all below. */
  readonly journal: (context: ObjectContext, from: number) => Promise<Page>;
  /** Takes or prolongs the lease under which a journal is changed by hand, while nothing is told; null where another has it. */
  readonly lease: (context: ObjectContext, wanted: WantedLease) => Promise<Lease | null>;
  readonly release: (context: ObjectContext, lease: Lease) => Promise<void>;
  /** Adds entries; where they begin a thread, its effects are performed. */
  readonly append: (context: ObjectContext, written: Written & { readonly expectedSeq: number }) => Promise<Writing>;
  /** Puts entries in the place of others. */
  readonly rewrite: (context: ObjectContext, written: Written) => Promise<Writing>;
  /** Removes a thread, and stops what is done for it. False when there was none, null when the given lease was lost. */
  readonly remove: (context: ObjectContext, lease: Lease | null) => Promise<boolean | null>;
}

/** Something for the machine of a thread. */
export interface Mail {
  readonly event: Event | ThreadStarted;
  /** It stands in the place of an outcome that a crash swallowed. */
  readonly recovered?: true;
  /** What had been shown of the reply that it cuts off. Absent: nobody was asked. */
  readonly shown?: ShownReply;
  /** What it answers was shown as it came. */
  readonly streamed?: true;
  /** Nobody waits for what becomes of it: a worker or a timer sent it, and its time is that of its telling. */
  readonly isSent?: true;
}

/** What became of it. `cutsOff`: `cut` has to be called with it. `later`: somebody changes the journal by hand. */
export type Told =
  | { readonly type: "handled"; readonly seq: number }
  | { readonly type: "refused"; readonly refusal: Refusal }
  | { readonly type: "cutsOff"; readonly effectId: string }
  | { readonly type: "later" };

export interface Cut {
  readonly mail: Mail;
  /** The model call whose reply is cut off. */
  readonly effectId: string;
}

/** An effect to be performed, by its id: the state has it. */
export interface Task {
  readonly effectId: string;
  readonly repetition: Repetition;
  /** It is a model call whose reply is shown. */
  readonly isReply?: true;
  /** Who performed it before is gone, with what came of it. */
  readonly isTakenUp?: true;
}

/** As many entries as one answer may have. */
export interface Page {
  readonly entries: readonly Entry[];
  /** There are none behind these. */
  readonly isLast: boolean;
}

export interface WantedLease {
  readonly owner: string;
  readonly ttlMs: number;
  /** The one to be prolonged; absent for a new one. */
  readonly lease?: Lease;
}

export interface Written {
  readonly lease: Lease;
  readonly entries: readonly Entry[];
}

export type Writing =
  | { readonly type: "written" }
  | { readonly type: "leaseLost" }
  | { readonly type: "conflict"; readonly actualSeq: number };
