import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { journalFormat } from "@colloquy/machine/journal";

import type { JournalVector } from "./journal-vector.ts";
import { profiles, type Vector } from "./vector.ts";

export const root: string = join(import.meta.dirname, "../..");
const folder = "vectors";

/** The version of the files' own format, and the format of journals that the machine reads and writes. */
const formatsText = `${JSON.stringify({ vectors: 1, journal: journalFormat })}\n`;
const formatsFile = `${folder}/formats.json`;

export interface VectorFile {
  /** The path from the root of the repository; in a file with a list, `#` and the name follow. */
  readonly file: string;
  readonly vector: Vector | JournalVector;
}

export const vectorFiles = (): readonly VectorFile[] =>
  profiles.flatMap((profile) =>
    readdirSync(join(root, folder, profile))
      .toSorted()
      .flatMap((name) => vectorsIn(profile, `${folder}/${profile}/${name}`)),
  );

/** A conversation has a line for each step after one with all else; a file of journals has one, or a list with names. */
const vectorsIn = (profile: (typeof profiles)[number], file: string): readonly VectorFile[] => {
  const text = readFileSync(join(root, file), "utf8");
  // The content is played or folded, and compared.
  const vectorOf = (name: string, value: object) => ({ profile, name, ...value }) as VectorFile["vector"];
  const name = basename(file).replace(/\.jsonl?$/, "");
  if (profile !== "journals") {
    const [head, ...steps] = text.trimEnd().split("\n").map(parsed);
    return [{ file, vector: vectorOf(name, { ...head, steps }) }];
  }
  const read = parsed(text);
  return isList(read)
    ? read.map((each) => ({ file: `${file}#${each.name}`, vector: vectorOf(each.name, each) }))
    : [{ file, vector: vectorOf(name, read) }];
};

// The files have objects and lists.
const parsed = (text: string): object => JSON.parse(text) as object;

const isList = (read: object): read is readonly { readonly name: string }[] => Array.isArray(read);

export const writeVectors = (vectors: readonly VectorFile["vector"][]): void => {
  for (const profile of profiles) rmSync(join(root, folder, profile), { recursive: true, force: true });
  for (const [file, text] of printed(vectors)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
};

/** Returns a problem if the file of formats names others. */
export const formatsProblem = (): readonly string[] =>
  readFileSync(join(root, formatsFile), "utf8") === formatsText
    ? []
    : [`${formatsFile} is stale: pnpm vectors --write`];

/** Prints the files of a set, by their paths. Journals that are refused share a file. */
export const printed = (vectors: readonly VectorFile["vector"][]): ReadonlyMap<string, string> => {
  const isRefused = (vector: VectorFile["vector"]): boolean => "refused" in vector;
  const others = vectors.filter((vector) => !isRefused(vector));
  const refused = vectors.filter(isRefused).map(({ profile: _, ...vector }) => vector);
  return new Map([
    [formatsFile, formatsText],
    ...others.map(({ profile, name, ...vector }): readonly [string, string] =>
      "steps" in vector
        ? [`${folder}/${profile}/${name}.jsonl`, linesOfSteps(vector)]
        : [`${folder}/${profile}/${name}.json`, `${membersOf(vector, "")}\n`],
    ),
    [`${folder}/journals/refused.json`, `${linesOf(refused, "")}\n`],
  ]);
};

const linesOfSteps = ({ steps, ...head }: Omit<Vector, "profile" | "name">): string =>
  [head, ...steps].map((line) => `${JSON.stringify(line)}\n`).join("");

/** Prints a journal with one line for each member and entry, so that a diff names the entry. */
const membersOf = (value: object, indent: string): string => {
  const members = Object.entries(value).map(([name, member]: readonly [string, unknown]) => {
    // Only a copied journal has a list of entries below the first level.
    const isCopy = name === "forked" && typeof member === "object" && member !== null;
    return `${indent} ${JSON.stringify(name)}: ${isCopy ? membersOf(member, `${indent} `) : linesOf(member, indent)}`;
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
};

const linesOf = (value: unknown, indent: string): string =>
  Array.isArray(value) && value.length > 0
    ? `[\n${value.map((item) => `${indent}  ${JSON.stringify(item)}`).join(",\n")}\n${indent} ]`
    : JSON.stringify(value);
