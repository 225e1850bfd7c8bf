import * as Either from "fp-ts/lib/Either.js";

/** Why an event changed nothing. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** For a person: names the value and the way out. */
  readonly reason: string;
  /** The turn that answers or answered a repeated ask. */
  readonly turn?: number;
}

/**
 * `stale`: the answer, or the ask, was had before, or is no longer awaited. `busy`: a turn is open.
 * `full`: so is the queue. `unknown`: it names something that is not there. `invalid`: it is no valid event for any state, or not for this thread.
 */
export type RefusalKind = "stale" | "busy" | "full" | "unknown" | "invalid";

/** A refusal in place of a decision. */
export const refuse = (kind: RefusalKind, reason: string): Either.Either<Refusal, never> =>
  Either.left({ kind, reason });
