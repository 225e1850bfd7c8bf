import type { LlmCompleted, ReplyDraft, State } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { RunContext } from "../context/host-context.ts";
import type { SnapshotReader } from "../journal/snapshot-reader.ts";
import type { Envelope } from "../mailbox/mailbox.ts";

/** Work that is in progress, under the id of its effect. */
export interface Running {
  /** Stops the work. It posts no more events. */
  stop(reason: Error | null): void;
}

/** A model call that is outstanding. */
export interface Responding {
  readonly effectId: string;
  readonly shown: ReplyDraft | undefined;
  /** Stops showing more of the reply. */
  mute(): void;
  /** Shows a reply that came from elsewhere, in place of what has been shown. */
  showOther(event: LlmCompleted): void;
  /** Journals the part that was shown since the last time. */
  journalProgress(): void;
}

/** The loop of a thread, as the performers of its effects see it, or a stand-in for one. */
export interface LoopPort {
  readonly threadId: string;
  readonly host: RunContext;
  readonly asks: Asks;
  readonly running: Map<string, Running>;
  responding: Responding | null;
  readonly state: State | null;
  readonly reader: SnapshotReader | null;
  readonly hasEnded: boolean;
  /** Puts an envelope into the mailbox. It is handled when all earlier ones are done. */
  post(envelope: Envelope): void;
  /** Returns whether a model or tool may be called now. If the lease expired unnoticed, the loop ends. */
  mayCall(): boolean;
}
