import { StorageError } from "@colloquy/host/store";

/** Throws `StorageError` for a thread id that a server or its index cannot keep. */
export const refuseUnstorable = (store: string, threadId: string): void => {
  const isLong = threadId.length > idMax;
  refuse(
    store,
    threadId,
    threadId.includes("\0") ? "holds a NUL" : isLong ? `has more than ${idMax} characters` : null,
  );
  refuseTorn(store, threadId);
};

/** Throws the same for a store that keeps any text but half of a surrogate pair. */
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

/** An index of PostgreSQL holds 2,704 bytes: any id of this length with up to two bytes a character. */
const idMax = 1000;
