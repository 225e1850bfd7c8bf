/**
 * A part of a snapshot is not there, or is not what was written. Thrown where it is first looked at. What it told of
 * stands in the journal: drop the snapshot, and fold; or see to it that the chunk can be read, and look again.
 */
export class SnapshotDamagedError extends Error {
  override readonly name = "SnapshotDamagedError";
  /** The id of the chunk that can't be read. */
  readonly chunk: string;

  /** `options.cause` is what a store threw that was to read it. */
  constructor(chunk: string, reason: string, options?: ErrorOptions) {
    super(`chunk "${chunk}" of the snapshot ${reason}; drop the snapshot and fold the journal`, options);
    this.chunk = chunk;
  }
}
