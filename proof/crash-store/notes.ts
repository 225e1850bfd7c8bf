// The reports of a writer on its standard output: lines of JSON, each written at the moment of the fact. They survive
// the writer's death as soon as they are written.
import { writeSync } from "node:fs";

/** Something that the store acknowledged; or, in the words that end in -ing, that is about to be asked of it. */
export type Note = { readonly threadId: string } & (
  | { readonly type: "appended"; readonly seq: number; readonly digest: string }
  | { readonly type: "rewriting" | "rewritten"; readonly seq: number; readonly digest: string }
  | { readonly type: "snapshot"; readonly number: number }
  | { readonly type: "posted" | "discarding" | "discarded"; readonly envelopeId: string }
  | { readonly type: "answered"; readonly envelopeId: string; readonly seq: number }
);

export const writeNote = (note: Note): void => void writeSync(1, `${JSON.stringify(note)}\n`);

/** The notes in what a writer said. The last line may be torn: then the thing was not said to have happened. */
export const notesIn = (said: string): readonly Note[] =>
  said
    .split("\n")
    .slice(0, -1)
    // Nobody else writes to this stream.
    .map((line) => JSON.parse(line) as Note);
