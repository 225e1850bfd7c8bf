import { StorageError } from "@colloquy/host/store";

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
