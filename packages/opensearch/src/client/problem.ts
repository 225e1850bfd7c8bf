import type * as Either from "fp-ts/lib/Either.js";

/** What was refused or failed. It has no header of the request, so no secret of the client's. */
export interface MemoryProblem {
  /** The HTTP status; null where no answer came, or none was asked for. */
  readonly status: number | null;
  readonly reason: string;
}

/** What the service answered. It is never rejected for what the service or the network does. */
export type Answer<Value> = Promise<Either.Either<MemoryProblem, Value>>;
