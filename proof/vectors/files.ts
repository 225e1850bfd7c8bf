import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import type { JournalVector } from "./journal-vector.ts";
import { printed } from "./print.ts";
import type { Vector } from "./vector.ts";

export const root: string = join(import.meta.dirname, "../..");
const folder = join(root, "vectors");
const profiles = ["core", "policies", "journals"] as const;

/** A file of the set. */
export interface VectorFile {
  /** From the root of the repository. */
  readonly file: string;
  readonly vector: Vector | JournalVector;
}

/** All files of the set, in order. */
export const vectorFiles = (): readonly VectorFile[] =>
  profiles.flatMap((profile) => filesOf(profile).map((file) => ({ file: relative(root, file), vector: read(file) })));

/** Writes the set again: files that are no longer in it are removed. */
export const writeVectors = (vectors: readonly (Vector | JournalVector)[]): void => {
  for (const profile of profiles) rmSync(join(folder, profile), { recursive: true, force: true });
  for (const vector of vectors) {
    mkdirSync(join(folder, vector.profile), { recursive: true });
    writeFileSync(join(folder, vector.profile, `${vector.name}.json`), printed(vector));
  }
};

const filesOf = (profile: string): readonly string[] => {
  const inner = join(folder, profile);
  if (!existsSync(inner)) return [];
  return readdirSync(inner)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => join(inner, name));
};

const read = (file: string): VectorFile["vector"] =>
  // The content is played or folded, and compared.
  JSON.parse(readFileSync(file, "utf8")) as VectorFile["vector"];
