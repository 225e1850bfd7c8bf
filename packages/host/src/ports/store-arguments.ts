import type { Entry } from "@colloquy/machine";

/** Checks a time to live. @throws RangeError for an invalid one */
export const checkTtl = (ttlMs: number): void => {
  if (!(ttlMs >= 0)) throw new RangeError(`lease: ttlMs is ${ttlMs}; give milliseconds, 0 or more`);
};

/** Checks the order of entries. @throws RangeError if they do not follow each other and `expectedSeq` */
export const refuseGaps = (threadId: string, expectedSeq: number, entries: readonly Entry[]): void => {
  const index = entries.findIndex(({ seq }, position) => seq !== expectedSeq + 1 + position);
  const entry = entries[index];
  if (entry === undefined) return;
  throw new RangeError(
    `thread "${threadId}": an entry of seq ${entry.seq} was given where ${expectedSeq + 1 + index} follows; append entries in order of seq.`,
  );
};

/** Checks the seqs of entries. @throws RangeError for seqs that no journal has */
export const refuseUnknownEntries = (threadId: string, entries: readonly Entry[]): void => {
  const unknown = entries.find(({ seq }) => !(Number.isInteger(seq) && seq >= 0 && seq < 2 ** 31));
  if (unknown !== undefined) throw noSuchEntry(threadId, unknown.seq);
};

export const noSuchEntry = (threadId: string, seq: number): RangeError =>
  new RangeError(`thread "${threadId}": there is no entry ${seq}; read the journal again`);
