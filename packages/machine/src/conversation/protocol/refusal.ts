import * as Either from "fp-ts/lib/Either.js";
import type { Decided } from "./entry.ts";

/** The reason why an event changed nothing. */
export interface Refusal {
  readonly kind: RefusalKind;
  /** Tells a person which value is wrong and what to do. */
  readonly reason: string;
  /** The turn that answers or answered a repeated ask. */
  readonly turn?: number;
}

/**
 * `stale`: the answer or the ask is repeated, or no longer awaited. `busy`: a turn is open. `full`: the queue is full.
 * `unknown`: it names something that does not exist. `invalid`: the event is invalid in every state, or for this
 * thread.
 */
export type RefusalKind = "stale" | "busy" | "full" | "unknown" | "invalid";

/** The decision about an event, or why it is refused. */
export type Decision = Either.Either<Refusal, Decided>;

export const refuse = (kind: RefusalKind, reason: string): Either.Either<Refusal, never> =>
  Either.left({ kind, reason });

/** Refuses an answer to an effect that nobody waits for. */
export const stale = (effectId: string, what: string): Either.Either<Refusal, never> =>
  refuse("stale", `no ${what} "${effectId}" is awaited: it was answered or cancelled, or it is of another thread`);
