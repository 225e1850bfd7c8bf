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
  const names = await filesIn(folder);
  const nested = names.includes("exchanges")
    ? (await filesIn(join(folder, "exchanges"))).map((file) => `exchanges/${file}`)
    : [];
  const commons = await Promise.all(
    names.filter((file) => file.endsWith(commonEnding)).map((file) => readCommon(folder, file)),
  );
  const found: Found = { cases: [], streams: [], errors: [], exchanges: [], journals: [], uncovered: [] };
  const unreadable: UnreadableLine[] = [];
  for (const file of [...names, ...nested].filter((name) => name.endsWith(".jsonl"))) {
    const lines = (await readFile(join(folder, file), "utf8")).split("\n");
    for (const [index, line] of lines.entries()) {
      const problem = line.trim() === "" ? null : take(found, file, line);
      if (problem !== null) unreadable.push({ file, line: index + 1, problem });
    }
  }
  return {
    ...found,
    cases: found.cases.map((each) => ({ ...each, common: commonFor(each.file, commons) })),
    uncovered: found.uncovered.map(({ file, records }) => ({ file, count: records.length })),
    unreadable: [...unreadable, ...commons.flatMap((common) => common.unreadable)],
  };
};

interface Found {
  readonly cases: FileRecords<RecordedCase>[];
  readonly streams: FileRecords<RecordedStream>[];
  readonly errors: FileRecords<RecordedError>[];
  readonly exchanges: FileRecords<RecordedExchange>[];
  readonly journals: FileRecords<unknown>[];
  readonly uncovered: FileRecords<unknown>[];
}

type FileRecords<Recorded> = RecordsOf<Recorded> & { readonly records: Recorded[] };

interface NamedCommon {
  readonly file: string;
  readonly common: CommonFile | null;
  readonly unreadable: readonly UnreadableLine[];
}

const commonEnding = ".common.json";

const filesIn = async (folder: string): Promise<readonly string[]> => (await readdir(folder)).toSorted();

/** Sorts a line into what was found. Returns why it can't be read, or null. */
const take = (found: Found, file: string, line: string): string | null => {
  const value = parseJson(line);
  const keep = <Recorded>(into: FileRecords<Recorded>[], parsed: Either.Either<string, Recorded>): string | null => {
    if (Either.isLeft(parsed)) return parsed.left;
    const last = into.at(-1);
    if (last?.file === file) last.records.push(parsed.right);
    else into.push({ file, records: [parsed.right] });
    return null;
  };
  if (typeof value !== "object" || value === null) return "not a JSON object";
  if ("event" in value && "seq" in value) return keep(found.journals, Either.right(value));
  if ("steps" in value) {
    const isCovered = !("api" in value) || value.api === "chat.completions" || value.api === "responses";
    return isCovered ? keep(found.cases, parseCase(value)) : keep(found.uncovered, Either.right(value));
  }
  if ("sse" in value) return keep(found.streams, parseStream(value));
  if ("request" in value) return keep(found.exchanges, parseExchange(value));
  if ("response" in value) return keep(found.errors, parseError(value));
  return "neither a journal entry, nor a case (steps), a stream (sse), an exchange (request) or an error (response)";
};

const readCommon = async (folder: string, file: string): Promise<NamedCommon> => {
  const parsed = parseCommon(parseJson(await readFile(join(folder, file), "utf8")));
  if (Either.isRight(parsed)) return { file, common: parsed.right, unreadable: [] };
  return { file, common: null, unreadable: [{ file, line: 1, problem: parsed.left }] };
};

/** Returns the common file whose words occur in the file's name, in order; of several, that with the most words. */
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
