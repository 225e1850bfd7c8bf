/**
 * A part of a snapshot is not there, or is not what was written. Thrown where it is first looked at. What it told of
 * stands in the journal: drop the snapshot, and fold.
 */
export class SnapshotDamagedError extends Error {
  override readonly name = "SnapshotDamagedError";
  /** The chunk that can't be read. */
  readonly chunk: string;

  constructor(chunk: string, reason: string) {
    super(`chunk "${chunk}" of the snapshot ${reason}; drop the snapshot and fold the journal`);
    this.chunk = chunk;
  }
}
