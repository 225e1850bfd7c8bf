import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { Lease, PartBatch, PartLogRange, StoredPartBatch } from "@colloquy/host/store";

import { isFolderThere, lookAt, makeFolder, namesIn, readIfThere } from "./disk.ts";

/**
 * Appends a batch of shown parts to a folder, which has one file for each turn and lease and one line for each batch.
 * Before it creates a file, it removes expired ones. Requires the lock. Nothing is flushed, since parts need not
 * survive more than a crash of the process.
 */
export const appendParts = (folder: string, { token }: Lease, batch: PartBatch): void => {
  const { number, turn, body, at, until } = batch;
  const path = join(folder, `${token}-${turn}${partsEnding}`);
  if (lookAt(path) === undefined) {
    forgetOld(folder, at);
    makeFolder(folder);
  }
  // Open without following links and without waiting.
  const asIs = constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | asIs, 0o600);
  try {
    writeSync(file, `${JSON.stringify([number, until, body])}\n`);
  } finally {
    closeSync(file);
  }
};

/** Returns the unexpired batches of a folder, in order. */
export const partsIn = (folder: string, { at, after, turn }: PartLogRange): readonly StoredPartBatch[] =>
  filesIn(folder)
    .filter((file) => (turn === undefined || file.turn === turn) && (after === null || file.token >= after.token))
    .flatMap((file) =>
      linesIn(join(folder, file.name)).map((line) => ({ ...line, token: file.token, turn: file.turn })),
    )
    .filter(({ until }) => until > at)
    .filter(({ token, number }) => after === null || token > after.token || number > after.number)
    .sort((one, other) => one.token - other.token || one.number - other.number)
    .map(({ until: _, ...batch }) => batch);

const forgetOld = (folder: string, at: number): void => {
  for (const { name } of filesIn(folder)) {
    const path = join(folder, name);
    if (linesIn(path).every(({ until }) => until <= at)) rmSync(path, { force: true });
  }
};

const filesIn = (folder: string): readonly { readonly name: string; readonly token: number; readonly turn: number }[] =>
  (isFolderThere(folder) ? namesIn(folder) : []).flatMap((name) => {
    const [, token, turn] = nameOfParts.exec(name) ?? [];
    return token === undefined ? [] : [{ name, token: Number(token), turn: Number(turn) }];
  });

interface Line {
  readonly number: number;
  readonly until: number;
  readonly body: string;
}

/** Parses the lines of a file. Lines that a crash has torn, and foreign lines, are skipped. */
const linesIn = (path: string): readonly Line[] =>
  (readIfThere(path)?.toString() ?? "").split("\n").flatMap((text): readonly Line[] => {
    try {
      // A value that is not a list cannot be destructured; the error is caught.
      const [number, until, body] = JSON.parse(text) as readonly unknown[];
      const isLine = typeof number === "number" && typeof until === "number" && typeof body === "string";
      return isLine ? [{ number, until, body }] : [];
    } catch {
      return [];
    }
  });

const partsEnding = ".parts";
const nameOfParts = /^(\d{1,16})-(\d{1,16})\.parts$/u;
