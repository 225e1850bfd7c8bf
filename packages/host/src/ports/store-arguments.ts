import type { Entry } from "@colloquy/machine";

/** @throws RangeError for a time to live that is none */
export const checkTtl = (ttlMs: number): void => {
  if (!(ttlMs >= 0)) throw new RangeError(`lease: ttlMs is ${ttlMs}; give milliseconds, 0 or more`);
};

/** @throws RangeError for entries that don't follow each other and `expectedSeq` */
export const refuseGaps = (threadId: string, expectedSeq: number, entries: readonly Entry[]): void => {
  const index = entries.findIndex(({ seq }, position) => seq !== expectedSeq + 1 + position);
  const entry = entries[index];
  if (entry === undefined) return;
  throw new RangeError(
    `thread "${threadId}": an entry of seq ${entry.seq} was given where ${expectedSeq + 1 + index} follows; append entries in order of seq.`,
  );
};

/** @throws RangeError for entries whose seqs no journal has */
export const refuseUnknownEntries = (threadId: string, entries: readonly Entry[]): void => {
  const unknown = entries.find(({ seq }) => !(Number.isInteger(seq) && seq >= 0 && seq < 2 ** 31));
  if (unknown !== undefined) throw noSuchEntry(threadId, unknown.seq);
};

/** For what is said of an entry that is not there. */
export const noSuchEntry = (threadId: string, seq: number): RangeError =>
  new RangeError(`thread "${threadId}": there is no entry ${seq}; read the journal again`);
