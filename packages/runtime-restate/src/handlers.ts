import type { Repetition, ShownReply } from "@colloquy/host/perform";
import type { Lease } from "@colloquy/host/store";
import type { Entry, Event, Refusal, ThreadStarted } from "@colloquy/machine";
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";

/**
 * The handlers of a thread, which is an object of Restate whose key is the thread's id. Exclusive handlers hold the key,
 * and never wait.
 */
export interface ThreadHandlers {
  /** Gives an event to the machine. Exclusive. */
  readonly tell: (context: ObjectContext, mail: Mail) => Promise<Told>;
  /** Does the same with an event that cuts off a reply, and adds what was shown of the reply. */
  readonly cut: (context: ObjectSharedContext, cut: Cut) => Promise<Told>;
  /** Performs an effect, and tells the outcome. It cannot be called from outside. */
  readonly perform: (context: ObjectSharedContext, task: Task) => Promise<void>;
  /** Reads the entries from a seq on, including each that was published. Exclusive, as all below. */
  readonly journal: (context: ObjectContext, from: number) => Promise<Page>;
  /**
   * Acquires or renews the lease for changing the journal directly, during which no event is handled. Returns null if
   * another owner has it.
   */
  readonly lease: (context: ObjectContext, wanted: WantedLease) => Promise<Lease | null>;
  readonly release: (context: ObjectContext, lease: Lease) => Promise<void>;
  /** Appends entries. If they start a thread, its effects are performed. */
  readonly append: (context: ObjectContext, written: Written & { readonly expectedSeq: number }) => Promise<Writing>;
  readonly rewrite: (context: ObjectContext, written: Written) => Promise<Writing>;
  /** Removes a thread and stops its effects. Returns false if there was none, null if the given lease was lost. */
  readonly remove: (context: ObjectContext, lease: Lease | null) => Promise<boolean | null>;
}

/** An event for the machine of a thread. */
export interface Mail {
  readonly event: Event | ThreadStarted;
  /** The event replaces an outcome that a crash lost. */
  readonly recovered?: true;
  /** The shown part of the reply that the event cuts off. Absent: its performer was not asked. */
  readonly shown?: ShownReply;
  /** The parts of the answered call were shown as they came. */
  readonly streamed?: true;
  /** A worker or a timer sent the event, and waits for no result. It gets the time at which it is handled. */
  readonly isSent?: true;
}

/** The result of an event. `cutsOff`: call `cut` with it. `later`: a host is changing the journal directly. */
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

/** An effect to perform, by its id; the state has the rest. */
export interface Task {
  readonly effectId: string;
  readonly repetition: Repetition;
  /** The effect is a model call whose reply is shown. */
  readonly isReply?: true;
  /** Its earlier performer is gone, and so is the outcome. */
  readonly isTakenUp?: true;
}

/** The entries that fit into one answer. */
export interface Page {
  readonly entries: readonly Entry[];
  /** No entries follow these. */
  readonly isLast: boolean;
}

export interface WantedLease {
  readonly owner: string;
  readonly ttlMs: number;
  /** The lease to renew; absent for a new one. */
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

/** The milliseconds before an event is told again while a host changes the journal directly. */
export const laterMs = 100;
