// The messages between a tab and the proof.
import type { AskPart } from "@colloquy/host";

import type { Called } from "../story/script.ts";

export const threadId = "shared";

export interface TabOptions {
  /** The proof's number for the tab; a reloaded page is another tab. */
  readonly tab: number;
  readonly database: string;
  readonly leaseTtlMs: number;
  readonly snapshotEvery: number;
}

export interface CallBody {
  readonly tab: number;
  readonly what: string;
  /** The id of the effect; for a tool, its idempotency key. */
  readonly id: string;
  /** The newest entry that the tab knew to be stored. */
  readonly seq: number;
  /** The part of the prompt that determines a model's reply. */
  readonly called: Called | null;
}

export type Ending =
  | { readonly type: "answered"; readonly turn: number; readonly text: string }
  | { readonly type: "failed"; readonly name: string; readonly message: string };

export type Report =
  | { readonly type: "shown"; readonly tab: number; readonly askId: string; readonly part: AskPart }
  | { readonly type: "ended"; readonly tab: number; readonly askId: string; readonly ending: Ending }
  | { readonly type: "approval"; readonly tab: number; readonly id: string }
  | { readonly type: "trouble"; readonly tab: number; readonly words: string };

export interface Seen {
  readonly messages: string;
  readonly journal: readonly unknown[];
}

/** The functions of `globalThis.tab`, which the proof calls. */
export interface Tab {
  open(options: TabOptions): void;
  ask(askId: string, input: string, how: "ask" | "steer"): void;
  cancel(): void;
  decide(id: string, approves: boolean): void;
  approvals(): Promise<readonly string[]>;
  /** Opens the thread, or waits until its holder has finished or is gone. */
  resume(): void;
  /** Blocks its script until the server answers: at once, or at the next append. */
  stall(when: "now" | "append"): void;
  see(): Promise<Seen>;
  /** Resolves when the thread has nothing under way or waiting. */
  rest(): Promise<void>;
}

export const reporter = "proofHears";
