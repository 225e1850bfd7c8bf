// Computes the seed of the gate's cases: the same for the same sources, another one after each change.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the sources: its path from the root, with `/`, and its bytes. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Returns a number below a million, computed from the sources in a folder, without git, which a copy lacks. */
export const seedOfSources = (root: string): number =>
  seedOf(
    globSync(sources, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**", "**/.types/**"] }).map((path) => ({
      path: path.replaceAll("\\", "/"),
      bytes: readFileSync(join(root, path)),
    })),
  );

/** Computes the seed of files, in any order. */
export const seedOf = (files: readonly SourceFile[]): number => {
  const hash = createHash("sha256");
  for (const { path, bytes } of files.toSorted((one, other) => (one.path < other.path ? -1 : 1)))
    hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  return hash.digest().readUInt32BE() % seedsMax;
};

/** Seeds have six digits: a person can copy them. */
export const seedsMax = 1_000_000;

/** Matched by their endings, so that files of tools beside them do not count. */
const sources = "{packages,proof,test,examples,bench,scripts}/**/*.{ts,json,jsonl,txt,yaml}";
