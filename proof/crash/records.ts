// The reports of a child: lines of JSON, appended to a file at the moment of each fact. They survive the child's death
// as soon as they are written.
import { existsSync, openSync, readFileSync, writeSync } from "node:fs";

export type Fact =
  /** The store said that an entry is stored. */
  | { readonly type: "acknowledged"; readonly seq: number; readonly digest: string }
  /** A model is called, or a tool's function. `seq` is that of the newest entry that is known to be stored. */
  | { readonly type: "performed"; readonly effectId: string; readonly seq: number; readonly promptDigest?: string }
  /** A tool has changed the world. */
  | { readonly type: "effect"; readonly tool: string; readonly key: string }
  /** A model was sent a prompt that is not well-formed. */
  | { readonly type: "malformed"; readonly effectId: string; readonly reason: string }
  | { readonly type: "answered"; readonly askId: string; readonly text: string };

/** A fact, and the boot of the child in which it happened. */
export type Recorded = Fact & { readonly boot: number };

export type RecordFact = (fact: Fact) => void;

/** Records facts of one boot. */
export const recorderOf = (path: string, boot: number): RecordFact => {
  const file = openSync(path, "a");
  // A line ahead of each, since the last one of the boot before may be torn.
  return (fact) => void writeSync(file, `\n${JSON.stringify({ ...fact, boot })}`);
};

/** All that was recorded, in order. */
export const readRecords = (path: string): readonly Recorded[] => {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8").split("\n").flatMap(recordedOf);
};

const recordedOf = (line: string): readonly Recorded[] => {
  try {
    // Nobody else writes to this file.
    return line === "" ? [] : [JSON.parse(line) as Recorded];
  } catch {
    // Torn by the kill: then the thing was not said to have happened.
    return [];
  }
};
