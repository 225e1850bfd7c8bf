import type { JsonObject } from "../../thread/json.ts";
import type { Cost, ReportedUsage } from "../../thread/usage.ts";
import type { Counter } from "../../prompt/counter.ts";
import type { InterruptedTurns } from "../../prompt/cut.ts";
import type { Budget, Policy } from "../../prompt/policy.ts";
import type { Limits } from "../protocol/limits.ts";
import type { ToolDeclaration } from "../protocol/tool.ts";
import type { FailureKind } from "../../thread/turn.ts";

/** How a machine decides. Holds functions; the state holds none, and what was decided stands in the journal. */
export interface MachineOptions {
  /** Default: none. */
  readonly tools?: readonly ToolDeclaration[];
  /** What prompts show of a thread. Default `keepAll`. */
  readonly policy?: Policy;
  /** Default `estimateCounter`. */
  readonly counter?: Counter;
  /** How much a prompt may hold; null for no bound. What does not fit is never sent. Default null. */
  readonly budget?: Budget | null;
  /** Whether what models report makes the counter's counts larger, where they count less than is reported. Default true. */
  readonly calibrate?: boolean;
  /** The share of the room from which on a prompt counts as approaching its limit, from 0 to 1. Default 0.8. */
  readonly warnAt?: number;
  /** Default: 50 steps a turn, and no other. */
  readonly limits?: Limits;
  /** What becomes of an ask while a turn is open. Default `reject`. */
  readonly overlap?: Overlap;
  /** Model and provider parameters, opaque to the machine. A thread's, and then an ask's, are laid over them. Default {}. */
  readonly model?: JsonObject;
  readonly retry?: Partial<Retry>;
  /** What prompts show of turns that were cancelled or failed. Default `keep`. */
  readonly interrupted?: InterruptedTurns;
  /** A call to a tool that is not declared. Default `result`: its result says so to the model. `ask`: the host is asked to run it. */
  readonly unknownTool?: "result" | "ask";
  /** The longest silence to bear between two pieces of a reply, in milliseconds. Default: none. */
  readonly idleTimeoutMs?: number;
  /** Default: calls have no price. */
  readonly pricing?: Pricing;
}

/**
 * What becomes of an ask while a turn is open. Each decision is published as a signal, and stands in the journal.
 *
 * `reject`: it is refused as busy. `queue`: it waits for a turn of its own. `merge`: it waits, and one turn answers
 * all that wait. `latest`: it waits, and whatever waited is superseded. `interrupt`: the open turn is cancelled, whatever
 * waited is superseded, and it is asked next. `steer`: it joins the open turn, whose next prompt shows it; where there
 * is none any more, it is given back. At most `max` wait.
 */
export type Overlap =
  | { readonly type: "reject" | "latest" | "interrupt" }
  | { readonly type: "queue" | "merge" | "steer"; readonly max: number };

/** When and how often a failed model call is made again. */
export interface Retry {
  /** The first call included. 1 for no retry. Default 3. */
  readonly attempts: number;
  /** Wait before the second attempt, in milliseconds; doubles with each. Default 500. */
  readonly baseDelayMs: number;
  /** The longest wait of our own choice, in milliseconds. Default 30,000. */
  readonly maxDelayMs: number;
  /** The longest wait that a server may ask for before the turn fails instead, in milliseconds. Default 120,000. */
  readonly maxRetryAfterMs: number;
  /** Which failures are worth it, if they also say that they are retryable. */
  readonly kinds: readonly FailureKind[];
}

/** What a call costs. Pure, and a value like a policy. */
export interface Pricing {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /**
   * Null when it is not known. `nano` is a whole number of billionths; anything else, or throwing, counts as null. `model` is
   * what answered calls itself; where that is not known or has no price, it is asked again with the one that was asked for.
   */
  readonly price: (usage: ReportedUsage, model: string | null) => Cost | null;
}
