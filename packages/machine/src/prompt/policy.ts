import type { JsonObject } from "../thread/json.ts";
import type { Cut, UnitPosition } from "./cut.ts";
import type { Counter } from "./counter.ts";
import type { Unit } from "./unit.ts";

/**
 * Decides what a prompt shows of a thread. It never sees or returns a prompt: the machine renders what it
 * decides, so no policy can split a round. Pure, total and deterministic; one that throws is replaced by
 * keep-all for that prompt, and reported.
 */
export interface Policy {
  /** With the version and the options, what a fingerprint hashes. */
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** A larger budget keeps a superset. */
  readonly monotone: boolean;
  /** Consecutive prompts are prefixes of each other, but for journalled causes. */
  readonly stable: boolean;
  readonly decide: (input: PolicyInput) => PolicyDecision;
}

/** What a policy is given. */
export interface PolicyInput {
  readonly history: History;
  readonly budget: Budget | null;
  readonly counter: Counter;
  /** What the last prompt left out. */
  readonly lastCut: Cut | null;
}

/** The closed turns of the path, newest first and read only as far as a policy looks; the open turn is always shown. */
export interface History {
  readonly newestFirst: () => Iterable<HistoryTurn>;
  /** What of the open turn, and of the system message, takes room whatever is decided. */
  readonly fixed: () => readonly Unit[];
}

export interface HistoryTurn {
  /** 0 for the seed, which comes last. */
  readonly number: number;
  readonly interrupted: boolean;
  /** Oldest first. */
  readonly units: () => readonly Unit[];
}

/** How much a prompt may hold. */
export interface Budget {
  /** Tokens of the model's window. */
  readonly tokens: number;
  /** Tokens of it that are left free for the answer. */
  readonly reserve: number;
}

/** What to show: all units from `from` on but those in `dropped`. */
export interface PolicyDecision {
  readonly from: UnitPosition | null;
  /** Ids of units after `from` to leave out. */
  readonly dropped?: readonly string[];
  /** Why the rest is left out, for a person. */
  readonly reason: string;
}
