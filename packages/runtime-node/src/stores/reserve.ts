import { closeSync, constants, fstatSync, openSync, rmSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";

import { StorageError } from "@colloquy/host/store";

/**
 * Room that is set apart for when the disk is full. Deleting and opening a store have to write something first: they take
 * this room, so that the user need not free some before.
 */
export interface Reserve {
  /** Sets room apart, as much as there is. Where that is none, another time. */
  readonly keep: () => void;
  /** Runs an operation, and where the disk is full for it, once more with the room that was kept. */
  readonly makingRoom: <A>(operation: () => A) => A;
}

/** A file of so many bytes. A store without files has none. */
export const reserveAt = (path: string | null, bytes: number): Reserve => {
  const keep = (): void => {
    if (path !== null) fill(path, bytes);
  };
  return {
    keep,
    makingRoom: (operation) => {
      try {
        return operation();
      } catch (error) {
        if (!isFull(error) || path === null) throw error;
        rmSync(path, { force: true });
        try {
          return operation();
        } finally {
          keep();
        }
      }
    },
  };
};

/** Whether there was no room, as far as SQLite knows: it takes a quota that is used up for a fault of the disk. */
export const isFull = (error: unknown): boolean =>
  error instanceof StorageError && (error.kind === "full" || error.kind === "io");

/** For a rewrite on a full disk: how much room it needs beside what is there. Other errors pass as they are. */
export const notRewritten = (error: unknown, threadId: string, needs: () => string): unknown => {
  if (!(error instanceof StorageError) || error.kind !== "full") return error;
  const message = `${error.message} Nothing of thread "${threadId}" was rewritten; that needs room on the disk: ${needs()}.`;
  return new StorageError("full", message, { cause: error.cause });
};

/** Bytes that no file system keeps in fewer. */
const piece = randomBytes(2 ** 16);

const fill = (path: string, bytes: number): void => {
  try {
    // No link is followed, and nothing waits.
    const asIs = constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | asIs, 0o600);
    try {
      const there = fstatSync(file);
      for (let written = there.isFile() ? there.size : bytes; written < bytes;) written += writeSync(file, piece);
    } finally {
      closeSync(file);
    }
  } catch {
    // It may not be made, or is as large as the disk allows.
  }
};
