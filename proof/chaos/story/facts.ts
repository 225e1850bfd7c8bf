// The reports of processes: lines of JSON, appended to a file at the moment of each fact. They survive the death of a
// process as soon as they are written.
import { existsSync, openSync, readFileSync, writeSync } from "node:fs";

export type Fact =
  /** The store said that an entry is stored. */
  | { readonly type: "acknowledged"; readonly seq: number; readonly digest: string }
  | Performed
  /** A tool has changed the world. */
  | { readonly type: "done"; readonly key: string }
  /** A model was sent a prompt that is not well-formed. */
  | { readonly type: "malformed"; readonly effectId: string; readonly reason: string }
  /** An asker got an answer. */
  | ({ readonly type: "answered" } & Answer);

/** A call of a model, or of a tool's function, as it begins. */
export interface Performed {
  readonly type: "performed";
  /** The name of a tool, or `model`. */
  readonly what: string;
  /** Of the effect; of a tool, its idempotency key. */
  readonly id: string;
  /** The newest entry that its process knew to be stored, if it knew. */
  readonly seq?: number;
  readonly promptDigest?: string;
}

export interface Answer {
  readonly askId: string;
  readonly turn: number;
  readonly text: string;
}

export type RecordFact = (fact: Fact) => void;

/** Records the facts of one process. */
export const recorderOf = (path: string): RecordFact => {
  const file = openSync(path, "a");
  // A line ahead of each, since the last one of an earlier process may be torn.
  return (fact) => void writeSync(file, `\n${JSON.stringify(fact)}`);
};

/** All that was recorded, in order. */
export const readFacts = (path: string): readonly Fact[] =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").flatMap(factIn) : [];

const factIn = (line: string): readonly Fact[] => {
  try {
    // Nobody else writes to this file.
    return line === "" ? [] : [JSON.parse(line) as Fact];
  } catch {
    // Torn by the kill: then the thing was not said to have happened.
    return [];
  }
};
