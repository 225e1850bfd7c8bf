import type { JsonObject } from "../../thread/plain-data.ts";
import type { Cost, ReportedUsage } from "../../thread/usage.ts";
import type { Counter } from "../../prompt/counter.ts";
import type { InterruptedTurns } from "../../prompt/unit.ts";
import type { Budget, Policy } from "../../prompt/policy.ts";
import type { Limits } from "../protocol/limits.ts";
import type { ToolDeclaration } from "../protocol/tool.ts";
import type { FailureKind } from "../../thread/turn.ts";

/**
 * The configuration of a machine. It holds functions; the state holds none, and the journal stores what the machine
 * decided.
 */
export interface MachineOptions {
  /** Default: none. */
  readonly tools?: readonly ToolDeclaration[];
  /** Decides what prompts show of a thread. Default `keepAll`. */
  readonly policy?: Policy;
  /** Default `estimateCounter`. */
  readonly counter?: Counter;
  /** The bound on the size of a prompt; null for none. A prompt that does not fit is never sent. Default null. */
  readonly budget?: Budget | null;
  /** Whether reported usage scales the counter's counts up if the counter counts too few tokens. Default true. */
  readonly calibrate?: boolean;
  /** The share of the room, from 0 to 1, from which a prompt counts as approaching its limit. Default 0.8. */
  readonly warnAt?: number;
  /** Default: 50 steps a turn, and no other limit. */
  readonly limits?: Limits;
  /** The handling of an ask while a turn is open. Default `reject`. */
  readonly overlap?: Overlap;
  /**
   * Model and provider parameters, opaque to the machine. Those of the thread override them, and those of an ask
   * override both. Default {}.
   */
  readonly model?: JsonObject;
  readonly retry?: Partial<Retry>;
  /** Whether prompts show turns that were cancelled or failed. Default `keep`. */
  readonly interrupted?: InterruptedTurns;
  /**
   * The handling of a call of an undeclared tool. `result`: a synthesised result tells the model so. `ask`: the host
   * is asked to run it. Default `result`.
   */
  readonly unknownTool?: "result" | "ask";
  /** The longest allowed pause between two pieces of a reply, in milliseconds. Default: none. */
  readonly idleTimeoutMs?: number;
  /** Default: calls have no price. */
  readonly pricing?: Pricing;
}

/**
 * The handling of an ask while a turn is open. Each decision is published as a signal and stored in the journal.
 *
 * `reject`: it is refused as busy. `queue`: it waits for a turn of its own. `merge`: it waits, and one turn answers
 * all waiting asks. `latest`: it waits and supersedes all waiting asks. `interrupt`: it cancels the open turn,
 * supersedes all waiting asks, and is asked next. `steer`: it joins the open turn, whose next prompt shows it; if the
 * turn has no next prompt, the ask is returned. At most `max` asks wait.
 */
export type Overlap =
  | { readonly type: "reject" | "latest" | "interrupt" }
  | { readonly type: "queue" | "merge" | "steer"; readonly max: number };

/** When and how often a failed model call is retried. */
export interface Retry {
  /** The number of calls, including the first. 1 means no retry. Default 3. */
  readonly attempts: number;
  /** The wait before the second attempt, in milliseconds. It doubles with each attempt. Default 500. */
  readonly baseDelayMs: number;
  /** The longest wait that the machine chooses, in milliseconds. Default 30,000. */
  readonly maxDelayMs: number;
  /**
   * The longest wait that a server may ask for, in milliseconds. If it asks for more, the turn fails. Default 120,000.
   */
  readonly maxRetryAfterMs: number;
  /** The failures that are retried, if they are also marked as retryable. */
  readonly kinds: readonly FailureKind[];
}

/** The price of calls. Pure, and identified by name and version like a policy. */
export interface Pricing {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /**
   * Returns the cost of a call, or null if it is unknown. `nano` is a whole number of billionths; any other result,
   * and a throw, count as null. `model` is the name that the reply reports. If that is unknown or has no price, this
   * is called again with the requested model.
   */
  readonly price: (usage: ReportedUsage, model: string | null) => Cost | null;
}
