import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import * as Either from "fp-ts/lib/Either.js";
import { type CommonFile, parseCase, parseCommon, type RecordedCase } from "./case.ts";
import {
  parseError,
  parseExchange,
  parseStream,
  type RecordedError,
  type RecordedExchange,
  type RecordedStream,
} from "./wire-records.ts";

/** All recordings of a folder. The content of a record determines its kind; file names do not matter. */
export interface RecordingFolder {
  readonly cases: readonly CaseFile[];
  readonly streams: readonly RecordsOf<RecordedStream>[];
  readonly errors: readonly RecordsOf<RecordedError>[];
  readonly exchanges: readonly RecordsOf<RecordedExchange>[];
  /** Journals, one per file, not yet decoded. */
  readonly journals: readonly RecordsOf<unknown>[];
  /** Conversations over APIs for which there is no replay yet. */
  readonly uncovered: readonly { readonly file: string; readonly count: number }[];
  /** Lines that are not recordings, and the reason. */
  readonly unreadable: readonly UnreadableLine[];
}

/** The records of one kind in one file. */
export interface RecordsOf<Recorded> {
  readonly file: string;
  readonly records: readonly Recorded[];
}

export interface CaseFile extends RecordsOf<RecordedCase> {
  /** The meaning of `"@common"` in this file; null if no common file matches its name. */
  readonly common: CommonFile | null;
}

export interface UnreadableLine {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly problem: string;
}

/** Reads every `*.jsonl` of a folder, and of its subfolder `exchanges`. Rejects if the folder cannot be read. */
export const readRecordings = async (folder: string): Promise<RecordingFolder> => {
  const found = await filesIn(folder);
  const nested = found.includes("exchanges")
    ? (await filesIn(join(folder, "exchanges"))).map((file) => `exchanges/${file}`)
    : [];
  const commons = await Promise.all(
    found.filter((file) => file.endsWith(commonEnding)).map((file) => readCommon(folder, file)),
  );
  const files = await Promise.all(
    [...found, ...nested].filter((file) => file.endsWith(".jsonl")).map((file) => readFileOf(folder, file, commons)),
  );
  return {
    cases: files.flatMap(({ file, common, cases }) => (cases.length === 0 ? [] : [{ file, common, records: cases }])),
    streams: files.flatMap(({ file, streams }) => nonEmpty(file, streams)),
    errors: files.flatMap(({ file, errors }) => nonEmpty(file, errors)),
    exchanges: files.flatMap(({ file, exchanges }) => nonEmpty(file, exchanges)),
    journals: files.flatMap(({ file, journal }) => nonEmpty(file, journal)),
    uncovered: files.flatMap(({ file, uncovered }) => (uncovered === 0 ? [] : [{ file, count: uncovered }])),
    unreadable: [...files.flatMap(({ unreadable }) => unreadable), ...commons.flatMap(({ unreadable }) => unreadable)],
  };
};

interface FileContent {
  readonly file: string;
  readonly common: CommonFile | null;
  readonly cases: RecordedCase[];
  readonly streams: RecordedStream[];
  readonly errors: RecordedError[];
  readonly exchanges: RecordedExchange[];
  readonly journal: unknown[];
  uncovered: number;
  readonly unreadable: UnreadableLine[];
}

interface NamedCommon {
  readonly file: string;
  readonly common: CommonFile | null;
  readonly unreadable: readonly UnreadableLine[];
}

const commonEnding = ".common.json";

const filesIn = async (folder: string): Promise<readonly string[]> => (await readdir(folder)).toSorted();

const readFileOf = async (folder: string, file: string, commons: readonly NamedCommon[]): Promise<FileContent> => {
  const content: FileContent = {
    file,
    common: commonFor(file, commons),
    cases: [],
    streams: [],
    errors: [],
    exchanges: [],
    journal: [],
    uncovered: 0,
    unreadable: [],
  };
  const lines = (await readFile(join(folder, file), "utf8")).split("\n");
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const problem = take(content, line);
    if (problem !== null) content.unreadable.push({ file, line: index + 1, problem });
  }
  return content;
};

/** Adds a line to the content by its kind. Returns a description of the problem, or null. */
const take = (content: FileContent, line: string): string | null => {
  const value = parseJson(line);
  if (typeof value !== "object" || value === null) return "not a JSON object";
  if ("event" in value && "seq" in value) return keep(content.journal, Either.right(value));
  if ("steps" in value) {
    if ("api" in value && value.api !== "chat.completions" && value.api !== "responses") return uncovered(content);
    return keep(content.cases, parseCase(value));
  }
  if ("sse" in value) return keep(content.streams, parseStream(value));
  if ("request" in value) return keep(content.exchanges, parseExchange(value));
  if ("response" in value) return keep(content.errors, parseError(value));
  return "neither a journal entry, nor a case (steps), a stream (sse), an exchange (request) or an error (response)";
};

const keep = <Recorded>(into: Recorded[], parsed: Either.Either<string, Recorded>): string | null => {
  if (Either.isLeft(parsed)) return parsed.left;
  into.push(parsed.right);
  return null;
};

const uncovered = (content: FileContent): null => {
  content.uncovered++;
  return null;
};

const readCommon = async (folder: string, file: string): Promise<NamedCommon> => {
  const parsed = parseCommon(parseJson(await readFile(join(folder, file), "utf8")));
  if (Either.isRight(parsed)) return { file, common: parsed.right, unreadable: [] };
  return { file, common: null, unreadable: [{ file, line: 1, problem: parsed.left }] };
};

/**
 * Returns the common file whose words occur in the file's name, in order. If several match, returns the one with the
 * most words.
 */
const commonFor = (file: string, commons: readonly NamedCommon[]): CommonFile | null => {
  const words = basename(file, ".jsonl").split("-");
  const fitting = commons
    .map((each) => ({ ...each, words: basename(each.file, commonEnding).split("-") }))
    .filter((each) => isWithin(each.words, words))
    .toSorted((left, right) => right.words.length - left.words.length);
  return (fitting[0] ?? (commons.length === 1 ? commons[0] : undefined))?.common ?? null;
};

const isWithin = (part: readonly string[], whole: readonly string[]): boolean => {
  let next = 0;
  for (const word of whole) if (word === part[next]) next++;
  return next === part.length;
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const nonEmpty = <Recorded>(file: string, records: readonly Recorded[]): readonly RecordsOf<Recorded>[] =>
  records.length === 0 ? [] : [{ file, records }];
