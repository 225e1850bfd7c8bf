import { StorageError } from "@colloquy/host/store";
import { fs } from "../ports/system.ts";

/** Disk room for a full disk, on which deleting and opening a store must write first. */
export interface Reserve {
  /** Reserves room, as much as is free. If there is none, a later call tries again. */
  readonly keep: () => void;
  /** Runs an operation. If the disk is full, releases the reserved room and runs it again. */
  readonly makingRoom: <A>(operation: () => A) => A;
}

/** Reserves room in a file of a given size. A store without files has no reserve. */
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
        fs.rmSync(path, { force: true });
        try {
          return operation();
        } finally {
          keep();
        }
      }
    },
  };
};

/** Checks for a full disk. SQLite reports an exhausted quota as an I/O error, so that counts too. */
export const isFull = (error: unknown): boolean =>
  error instanceof StorageError && (error.kind === "full" || error.kind === "io");

/** Adds to the error of a rewrite on a full disk how much room it needs. Returns other errors unchanged. */
export const notRewritten = (error: unknown, threadId: string, needs: () => string): unknown => {
  if (!(error instanceof StorageError) || error.kind !== "full") return error;
  const message = `${error.message} Nothing of thread "${threadId}" was rewritten; that needs room on the disk: ${needs()}.`;
  return new StorageError("full", message, { cause: error.cause });
};

/** Random bytes, which no file system can compress. Drawn when the first reserve is filled. */
let piece: Uint8Array | null = null;

const fill = (path: string, bytes: number): void => {
  try {
    // Open without following links and without waiting.
    const asIs = fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
    const file = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_APPEND | asIs, 0o600);
    try {
      const there = fs.fstatSync(file);
      for (let written = there.isFile() ? there.size : bytes; written < bytes;)
        written += fs.writeSync(file, (piece ??= crypto.getRandomValues(new Uint8Array(2 ** 16))));
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // The file cannot be created, or fills the disk already.
  }
};
