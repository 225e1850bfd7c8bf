import { setImmediate } from "node:timers";

import { StorageError } from "@colloquy/host/store";

import { type Connection, writing } from "./connection.ts";

/** One write of a thread, which runs once; again only if a transaction of several was rolled back. */
export interface Write {
  /** Writes in a transaction of its own. Throws if nothing was written. */
  readonly alone: () => void;
  /** Does the same within a transaction. If it throws, the transaction is rolled back. */
  readonly within: () => void;
}

export interface Commits {
  /**
   * Runs a write at once. But if another thread has written in this turn of the event loop, the write waits for the
   * turn's end, and is committed together with all that wait: a commit costs several times as much as an insert.
   */
  readonly write: (threadId: string, write: Write) => void | Promise<void>;
  /** Runs the writes that wait. */
  readonly settle: () => void;
}

export const commitsOf = (connection: Connection): Commits => {
  let waiting: Waiting[] = [];
  /** The thread that has written in this turn of the event loop; null for none. */
  let writer: string | null = null;
  const settle = (): void => {
    const settled = waiting;
    waiting = [];
    writer = null;
    if (settled.length > 1 && committed(connection, settled)) return;
    for (const { write, resolve, reject } of settled) {
      try {
        write.alone();
        resolve();
      } catch (error) {
        reject(error);
      }
    }
  };
  return {
    write: (threadId, write) => {
      if (writer === null) setImmediate(settle);
      else if (writer !== threadId || waiting.length > 0)
        return new Promise((resolve, reject) => void waiting.push({ write, resolve, reject }));
      writer = threadId;
      return write.alone();
    },
    settle,
  };
};

interface Waiting {
  readonly write: Write;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Commits writes together. Returns false if nothing was written: then each alone shows which of them fails. */
const committed = (connection: Connection, waiting: readonly Waiting[]): boolean => {
  try {
    writing(connection, () => {
      for (const { write } of waiting) write.within();
    });
  } catch (error) {
    // Each alone would wait as long for the lock.
    const isLocked = error instanceof StorageError && error.kind === "locked";
    if (isLocked) for (const { reject } of waiting) reject(error);
    return isLocked;
  }
  for (const { resolve } of waiting) resolve();
  return true;
};
