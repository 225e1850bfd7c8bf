import { rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

import { type InboxAnswer, type InboxItem, inboxItemOf } from "@colloquy/host/store";

import { flushFolder, isFolderThere, makeFolder, namesIn, readIfThere, replaceFile } from "./disk.ts";
import { idOf, nameOf } from "./file-name.ts";

/**
 * Leaves an inbox item in a folder, one file an inbox item, numbered in the order in which they came; none when one with its id
 * is there already. One of which nothing is left, or that can't be answered, is written again. Under the lock, as all
 * that changes an inbox.
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
  // Also where it was there: the process that left it may have died before it was flushed.
  if (flush) flushFolder(folder);
};

/** Inbox items that are not answered, as they were left, oldest first. */
export const unansweredLetters = (folder: string): readonly unknown[] =>
  lettersIn(folder).flatMap((file) => {
    const letter = readLetter(join(folder, file));
    return letter === null || isAnswer(letter) ? [] : [letter];
  });

/** Puts answers in the place of the inbox items, one at a time, each whole or not at all. */
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

/** The answer to an inbox item; null while there is none. */
export const answerToLetter = (folder: string, letterId: string): unknown => {
  const name = nameOf(letterId);
  const file = lettersIn(folder).find((each) => isOf(each, name));
  const letter = file === undefined ? null : readLetter(join(folder, file));
  return isAnswer(letter) ? letter : null;
};

/** Removes an inbox item, and the folder with the last of them. */
export const discardLetter = (folder: string, letterId: string, flush: boolean): void => {
  const name = nameOf(letterId);
  const files = lettersIn(folder);
  for (const file of files.filter((each) => isOf(each, name))) rmSync(join(folder, file));
  if (flush && files.length > 0) flushFolder(folder);
  try {
    if (files.length <= 1) rmdirSync(folder);
  } catch {
    // It is not there, or holds something else. That is no inbox item, and stays.
  }
};

const lettersIn = (folder: string): readonly string[] =>
  isFolderThere(folder) ? namesIn(folder).filter((file) => file.endsWith(letterEnding)) : [];

const isOf = (file: string, name: string): boolean => file.slice(numberLength + 1) === name + letterEnding;

/**
 * Null for one that is gone by now, and for an empty file, as a power cut leaves one that was never flushed. Of a damaged
 * one its id, where the name of the file shows it.
 */
const readLetter = (path: string): unknown => {
  const text = readIfThere(path);
  if (text === null || text.length === 0) return null;
  // Only a name that was shortened does not show its id: such an inbox item has the one that stands in it.
  return inboxItemOf(() => idOf(basename(path, letterEnding).slice(numberLength + 1)), text.toString()) ?? {};
};

const hasId = (letter: unknown): boolean => typeof letter === "object" && letter !== null && "id" in letter;

const isAnswer = (letter: unknown): boolean => typeof letter === "object" && letter !== null && "handled" in letter;

const letterEnding = ".json";
const numberLength = 12;
