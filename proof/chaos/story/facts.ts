// The reports of processes: lines of JSON, appended to a file at the moment of each fact. Once written, they survive
// the process.
import { existsSync, openSync, readFileSync, writeSync } from "node:fs";

export type Fact =
  /** The store acknowledged an entry. */
  | { readonly type: "acknowledged"; readonly seq: number; readonly digest: string }
  | Performed
  /** A tool had its effect. */
  | { readonly type: "done"; readonly key: string }
  /** A model got a malformed prompt. */
  | { readonly type: "malformed"; readonly effectId: string; readonly reason: string }
  /** An asker got an answer. */
  | ({ readonly type: "answered" } & Answer);

/** The start of a model call, or of a tool's function. */
export interface Performed {
  readonly type: "performed";
  /** The name of a tool, or `model`. */
  readonly what: string;
  readonly id: string;
  /** The newest entry that its process knew to be stored, if any. */
  readonly seq?: number;
  readonly promptDigest?: string;
}

export interface Answer {
  readonly askId: string;
  readonly turn: number;
  readonly text: string;
}

export type RecordFact = (fact: Fact) => void;

export const recorderOf = (path: string): RecordFact => {
  const file = openSync(path, "a");
  // A newline before each, since the last line of an earlier process may be torn.
  return (fact) => void writeSync(file, `\n${JSON.stringify(fact)}`);
};

export const readFacts = (path: string): readonly Fact[] =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").flatMap(factIn) : [];

const factIn = (line: string): readonly Fact[] => {
  try {
    // Only processes of this proof write to this file.
    return line === "" ? [] : [JSON.parse(line) as Fact];
  } catch {
    // A kill tore the line, so the fact was not reported.
    return [];
  }
};
