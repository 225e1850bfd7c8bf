import { rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

import { type InboxAnswer, type InboxItem, inboxItemOf } from "@colloquy/host/store";

import { flushFolder, isFolderThere, makeFolder, namesIn, readIfThere, replaceFile } from "./disk.ts";
import { idOf, nameOf } from "./file-name.ts";

/**
 * Adds an inbox item to a folder, as a file numbered in order of arrival. Does nothing if an item with its id exists.
 * Replaces an item that is empty or unanswerable. All changes to an inbox require the lock.
 */
export const postLetter = (folder: string, letter: InboxItem, flush: boolean): void => {
  const name = nameOf(letter.id);
  const files = lettersIn(folder);
  const there = files.find((file) => isOf(file, name));
  if (there === undefined || !hasId(readLetter(join(folder, there)))) {
    const number = Number.parseInt(files.at(-1) ?? "0", 10) + 1;
    makeFolder(folder);
    const file = there ?? `${String(number).padStart(numberLength, "0")}-${name}${letterEnding}`;
    replaceFile(join(folder, file), JSON.stringify(letter), flush);
  }
  // Flush even if it existed, since the process that wrote it may have died before flushing.
  if (flush) flushFolder(folder);
};

/** Returns the unanswered inbox items as they were posted, oldest first. */
export const unansweredLetters = (folder: string): readonly unknown[] =>
  lettersIn(folder).flatMap((file) => {
    const letter = readLetter(join(folder, file));
    return letter === null || isAnswer(letter) ? [] : [letter];
  });

/** Replaces inbox items by their answers. Each is replaced as a whole or not at all. */
export const answerLetters = (folder: string, answers: readonly InboxAnswer[], flush: boolean): void => {
  const files = lettersIn(folder);
  for (const answer of answers) {
    const name = nameOf(answer.id);
    const file = files.find((each) => isOf(each, name));
    if (file === undefined) continue;
    const path = join(folder, file);
    if (!isAnswer(readLetter(path))) replaceFile(path, JSON.stringify(answer), flush);
  }
  if (flush && files.length > 0) flushFolder(folder);
};

/** Returns the answer to an inbox item; null while there is none. */
export const answerToLetter = (folder: string, letterId: string): unknown => {
  const name = nameOf(letterId);
  const file = lettersIn(folder).find((each) => isOf(each, name));
  const letter = file === undefined ? null : readLetter(join(folder, file));
  return isAnswer(letter) ? letter : null;
};

/** Removes an inbox item, and the folder after the last one. */
export const discardLetter = (folder: string, letterId: string, flush: boolean): void => {
  const name = nameOf(letterId);
  const files = lettersIn(folder);
  for (const file of files.filter((each) => isOf(each, name))) rmSync(join(folder, file));
  if (flush && files.length > 0) flushFolder(folder);
  try {
    if (files.length <= 1) rmdirSync(folder);
  } catch {
    // The folder does not exist, or contains other files, which remain.
  }
};

const lettersIn = (folder: string): readonly string[] =>
  isFolderThere(folder) ? namesIn(folder).filter((file) => file.endsWith(letterEnding)) : [];

const isOf = (file: string, name: string): boolean => file.slice(numberLength + 1) === name + letterEnding;

/**
 * Reads an inbox item. Returns null if it is gone or its file is empty, as a power cut leaves an unflushed file. For a
 * damaged item, returns its id, if the file's name contains it.
 */
const readLetter = (path: string): unknown => {
  const text = readIfThere(path);
  if (text === null || text.length === 0) return null;
  // A shortened name does not contain the id. Such an item's id is read from its text.
  return inboxItemOf(() => idOf(basename(path, letterEnding).slice(numberLength + 1)), text.toString()) ?? {};
};

const hasId = (letter: unknown): boolean => typeof letter === "object" && letter !== null && "id" in letter;

const isAnswer = (letter: unknown): boolean => typeof letter === "object" && letter !== null && "handled" in letter;

const letterEnding = ".json";
const numberLength = 12;
