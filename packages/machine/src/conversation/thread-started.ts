import type { JsonObject } from "../thread/json.ts";
import type { SeedDraft } from "../thread/seed.ts";
import type { SystemDraft } from "../thread/system.ts";

/** What a thread begins with: the first entry of every journal, and the input of the machine. */
export interface ThreadStarted {
  readonly type: "thread.started";
  readonly at: number;
  readonly threadId: string;
  readonly system?: SystemDraft;
  /** Messages that stand before the first turn. */
  readonly seed?: readonly SeedDraft[];
  readonly metadata?: JsonObject;
  /** Model and provider parameters for each call, opaque to the machine; laid over the configuration's, member by member. */
  readonly model?: JsonObject;
  readonly configuration?: Configuration;
}

/** What of the configuration a thread was last run with, so that a change is seen. */
export interface Configuration {
  /** A digest of names, versions and options; see `fingerprintOf`. */
  readonly fingerprint: string;
  /** Model and provider parameters of the machine, opaque to it. */
  readonly model?: JsonObject;
  /** The longest silence between two pieces of a streamed reply, in milliseconds. */
  readonly idleTimeoutMs?: number;
  /** How summaries are asked for; absent where none are. */
  readonly summariser?: { readonly instruction: string; readonly model?: JsonObject };
  /** What each answering call offers the model, in this order. Absent in journals that 0.1 wrote: unknown. */
  readonly tools?: readonly OfferedTool[];
}

/** A tool as a model is shown it. */
export interface OfferedTool {
  readonly name: string;
  /** Of its name, description and parameters: what a model sees of it. Not cryptographic. */
  readonly digest: string;
}
