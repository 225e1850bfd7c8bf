import type { ReplyDraft, State } from "@colloquy/machine";
import type { Worker } from "../activity/active-threads.ts";
import type { Asks } from "../ask/asks.ts";
import type { RunContext } from "../context/host-context.ts";
import type { SnapshotReader } from "../journal/snapshot-reader.ts";
import type { Envelope } from "../mailbox/mailbox.ts";

/** Something that is being done, under the id of its effect. */
export interface Running {
  /** Stops it; nothing comes of it any more. */
  stop(reason: Error | null): void;
}

/** A model call that is out for an answer. */
export interface Responding {
  readonly effectId: string;
  /** What has been shown of the reply. */
  readonly shown: ReplyDraft | undefined;
  /** From here on nothing more is shown of it. */
  mute(): void;
  /** Has what was shown since the last time journalled. */
  journalProgress(): void;
}

/** The loop of a thread, as far as the performers of its effects know it; or what stands in for one. */
export interface LoopPort extends Worker {
  readonly threadId: string;
  readonly host: RunContext;
  /** Asks that are not settled. */
  readonly asks: Asks;
  readonly running: Map<string, Running>;
  callsToModel: number;
  responding: Responding | null;
  readonly state: State | null;
  /** What the older turns of the state are read by. */
  readonly reader: SnapshotReader | null;
  readonly hasEnded: boolean;
  /** Puts something into the mailbox; it is taken when what came before is done. */
  post(envelope: Envelope): void;
  /** Whether a model or a tool may be called now: only by the holder of the lease. One that ran out unnoticed ends the loop. */
  mayCall(): boolean;
  /** Reports what the thread does with its slot. */
  reportActivity(): void;
}
