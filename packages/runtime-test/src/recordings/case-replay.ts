import type { CallLlm, Entry } from "@colloquy/machine";
import type { CaseDifference } from "./difference.ts";
import type { Figures } from "./figures.ts";

/** The result of a case's replay. */
export interface CaseReplay {
  readonly id: string;
  /**
   * `inexpressible`: events cannot express the case, because the client did something that a well-formed thread cannot
   * contain. Never for a strict case.
   */
  readonly outcome: "passed" | "failed" | "inexpressible";
  /**
   * The first difference from the recording, or the reason why no event can express it; null if it passed. `step` is
   * null before the first step and at the end.
   */
  readonly difference: CaseDifference | null;
  readonly figures: Figures;
  /** The requested model calls, in order, each with its prompt. */
  readonly calls: readonly CallLlm[];
  /** The journal of the replay. */
  readonly entries: readonly Entry[];
  /** Remarks for a reader about a passed replay. */
  readonly notes: readonly string[];
}
