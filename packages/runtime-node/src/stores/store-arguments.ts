import type { Entry } from "@colloquy/machine";

import { StorageError } from "./storage-error.ts";

/** Throws `StorageError` for a thread id that a server can't keep as it is, or not in an index. `store` names it. */
export const refuseUnstorable = (store: string, threadId: string): void => {
  const isLong = threadId.length > idMax;
  refuse(
    store,
    threadId,
    threadId.includes("\0") ? "holds a NUL" : isLong ? `has more than ${idMax} characters` : null,
  );
  refuseTorn(store, threadId);
};

/** The same for a store that keeps any text but half of a character. */
export const refuseTorn = (store: string, threadId: string): void =>
  refuse(store, threadId, threadId.isWellFormed() ? null : "holds half of a surrogate pair");

const refuse = (store: string, threadId: string, problem: string | null): void => {
  if (problem === null) return;
  const shown = JSON.stringify(threadId.slice(0, idMax));
  throw new StorageError(
    "invalid-id",
    `${store}: the thread id ${shown} ${problem}, which it can't keep; choose another id.`,
  );
};

/** An index of PostgreSQL takes 2,704 bytes, less where characters have three or four: no id of this length is refused by it as a rule. */
const idMax = 1000;

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
export const refuseStrangers = (threadId: string, entries: readonly Entry[]): void => {
  const stranger = entries.find(({ seq }) => !(Number.isInteger(seq) && seq >= 0 && seq < 2 ** 31));
  if (stranger !== undefined) throw noSuchEntry(threadId, stranger.seq);
};

/** For what is said of an entry that is not there. */
export const noSuchEntry = (threadId: string, seq: number): RangeError =>
  new RangeError(`thread "${threadId}": there is no entry ${seq}; read the journal again`);
