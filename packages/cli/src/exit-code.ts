/** The exit codes of the process. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** The arguments cannot be used: nothing was asked. */
  arguments: 2,
  /** A limit, or the model's window, ended a turn. */
  limit: 3,
  /** A tool call waits for approval. */
  waits: 4,
  interrupted: 130,
} as const;

/** Arguments that cannot be used. The message names the problem and the remedy. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError";
}

/** The person stopped the command before anything was asked. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
}
