// The messages between a tab and the proof.
import type { AskPart } from "@colloquy/host";

import type { Called } from "../story/script.ts";

/** The thread that all tabs are on. */
export const threadId = "shared";

/** The options with which a tab opens its host. */
export interface TabOptions {
  /** Drawn by the proof: a page that is loaded again is another tab. */
  readonly tab: number;
  readonly database: string;
  readonly leaseTtlMs: number;
  readonly snapshotEvery: number;
}

/** A tab's call to the proof's server: a model, or a tool by its name. */
export interface CallBody {
  readonly tab: number;
  readonly what: string;
  /** Of the effect; of a tool, its idempotency key. */
  readonly id: string;
  /** The newest entry that the tab knew to be stored. */
  readonly seq: number;
  /** Of a model call: what its reply depends on. */
  readonly called: Called | null;
}

/** How an ask ended, as its asker was told. */
export type Ending =
  | { readonly type: "answered"; readonly turn: number; readonly text: string }
  /** `name` is that of the error. */
  | { readonly type: "failed"; readonly name: string; readonly message: string };

/** A report of a tab. */
export type Report =
  | { readonly type: "shown"; readonly tab: number; readonly askId: string; readonly part: AskPart }
  | { readonly type: "ended"; readonly tab: number; readonly askId: string; readonly ending: Ending }
  /** A tool call waits for approval. */
  | { readonly type: "approval"; readonly tab: number; readonly id: string }
  /** Something failed that nobody waits for. */
  | { readonly type: "trouble"; readonly tab: number; readonly words: string };

/** The view that a tab has of the thread. */
export interface Seen {
  /** The messages, as JSON. */
  readonly messages: string;
  readonly journal: readonly unknown[];
}

/** The functions of `globalThis.tab`, which the proof calls. */
export interface Tab {
  open(options: TabOptions): void;
  ask(askId: string, input: string, how: "ask" | "steer"): void;
  cancel(): void;
  /** Approves or denies the tool call of that request. */
  decide(id: string, approves: boolean): void;
  /** The requests that wait for approval. */
  approvals(): Promise<readonly string[]>;
  /** Opens the thread, or waits until its holder is done or gone. */
  resume(): void;
  /** Its script stands still until the server answers: at once, or as it next appends. */
  stall(when: "now" | "append"): void;
  see(): Promise<Seen>;
  /** Resolves when nothing is under way in the thread or waits for it. */
  rest(): Promise<void>;
}

/** The name of the function by which a tab reports. */
export const reporter = "proofHears";
