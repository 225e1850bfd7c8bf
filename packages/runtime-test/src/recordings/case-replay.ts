import type { CallLlm, Entry } from "@colloquy/machine";
import type { CaseDifference } from "./difference.ts";
import type { Figures } from "./figures.ts";

/** How the replay of a case ended, and how far it came. */
export interface CaseReplay {
  readonly id: string;
  /** `inexpressible`: it can't be expressed, for the client did what a well-formed thread can't hold. Never for a strict case. */
  readonly outcome: "passed" | "failed" | "inexpressible";
  /** Where it parted from the recording, or why no event can express it; null when it passed. `step` is null before the first step and at the end. */
  readonly difference: CaseDifference | null;
  readonly figures: Figures;
  /** The model calls that were made, in order, each with its prompt. */
  readonly calls: readonly CallLlm[];
  /** The journal of the replay. */
  readonly entries: readonly Entry[];
  /** What a reader should know of a passed replay. */
  readonly notes: readonly string[];
}
