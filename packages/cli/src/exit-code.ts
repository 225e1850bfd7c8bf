/** What the process ends with. */
export const exitCodes = {
  done: 0,
  /** A turn failed. */
  failed: 1,
  /** What was given can't be used: nothing was asked. */
  arguments: 2,
  /** A limit, or the window of the model. */
  limit: 3,
  /** A tool call waits for approval. */
  waits: 4,
  interrupted: 130,
} as const;

/** What was given can't be used. The message says what, and the way out. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

/** The person ended it before anything was asked. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}
