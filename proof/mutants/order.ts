import { posix } from "node:path";

import type { Node } from "oxc-parser";

import { isFunction, programOf, type Source, walk } from "../../test/rules/source.ts";
import { linksOf, packagesOf } from "../../test/rules/workspace.ts";
import { marks, type Passed } from "./messages.ts";
import type { Mutant } from "./mutations.ts";

/** Orders the tests that can notice a mutant: the likeliest and cheapest first. */
export class TestOrder {
  readonly #tests: readonly Source[];
  readonly #sources: ReadonlyMap<string, Source>;
  /** The importers of each module, by its path. */
  readonly #importers: ReadonlyMap<string, readonly string[]>;
  readonly #seconds = new Map<string, number>();
  /** The functions that each test file calls. */
  readonly #reached = new Map<string, ReadonlySet<string>>();
  /** Functions that are called while a module loads, so that everything later may depend on them. */
  readonly #loaded = new Set<string>();

  constructor(tests: readonly Source[], sources: readonly Source[]) {
    this.#tests = tests;
    this.#sources = new Map(sources.map((source) => [source.path, source]));
    this.#importers = importersIn(sources);
  }

  /**
   * Notes test files that ran, with a mutant or without. A file that never reached the mutant behaved as without one.
   */
  note(passed: readonly Passed[], mutant: Mutant | null): void {
    const around = mutant === null ? "" : this.#functionOf(mutant);
    for (const { path, seconds, loaded, reached } of passed) {
      this.#seconds.set(path, seconds);
      for (const name of loaded) this.#loaded.add(name);
      if (around !== undefined && ![...loaded, ...reached].includes(around)) this.#reached.set(path, new Set(reached));
    }
  }

  /** The paths of all tests. */
  get all(): readonly string[] {
    return this.#tests.map(({ path }) => path);
  }

  testsOf(mutant: Mutant): readonly string[] {
    const distances = this.#distancesFrom(mutant.path);
    const around = this.#functionOf(mutant);
    return this.#tests
      .filter(({ path }) => distances.has(path) && this.#reaches(path, around))
      .map((test) => ({ path: test.path, cost: this.#cost(test, mutant.path, distances) }))
      .toSorted((one, other) => one.cost - other.cost)
      .map(({ path }) => path);
  }

  #cost(test: Source, path: string, distances: ReadonlyMap<string, number>): number {
    const seconds = this.#seconds.get(test.path) ?? test.text.length / assumedBytesPerSecond;
    const isDirect = distances.get(test.path) === 1;
    const promise = (isDirect ? 10 : 1) * (isBeside(test.path, path) ? 5 : 1) * 10 ** wordsShared(test.path, path);
    return (seconds + startSeconds) / promise;
  }

  #functionOf(mutant: Mutant): string | undefined {
    const source = this.#sources.get(mutant.path);
    return source === undefined ? undefined : functionAround(source, mutant)?.name;
  }

  #reaches(test: string, around: string | undefined): boolean {
    if (around === undefined || this.#loaded.has(around)) return true;
    return this.#reached.get(test)?.has(around) ?? true;
  }

  /** Returns for each direct or indirect importer of a module the number of modules between. */
  #distancesFrom(path: string): ReadonlyMap<string, number> {
    const distances = new Map([[path, 0]]);
    for (const [reached, distance] of distances) {
      for (const importer of this.#importers.get(reached) ?? []) {
        if (!distances.has(importer)) distances.set(importer, distance + 1);
      }
    }
    return distances;
  }
}

const assumedBytesPerSecond = 20_000;

/** Keeps many short files from counting as free. */
const startSeconds = 0.02;

/** Checks that a test is in a folder with the name of the module's folder. */
const isBeside = (test: string, path: string): boolean =>
  posix.basename(posix.dirname(test)) === posix.basename(posix.dirname(path));

/** Counts common words: `snapshot-opened.test.ts` and `snapshot-turn.ts` share one. */
const wordsShared = (test: string, path: string): number => {
  const words = new Set(posix.basename(path, ".ts").split("-"));
  return posix
    .basename(test, ".test.ts")
    .split("-")
    .filter((word) => words.has(word)).length;
};

const importersIn = (sources: readonly Source[]): ReadonlyMap<string, readonly string[]> => {
  const packages = packagesOf(sources);
  const importers = new Map<string, string[]>();
  for (const source of sources.filter(({ path }) => path.endsWith(".ts"))) {
    for (const { target, typeOnly } of linksOf(source, packages)) {
      if (target === undefined || typeOnly) continue;
      const known = importers.get(target);
      if (known === undefined) importers.set(target, [source.path]);
      else known.push(source.path);
    }
  }
  return importers;
};

interface FunctionRange {
  /** `packages/machine/src/thread/turn.ts#3`: the file, and the function's number in it. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly body: { readonly start: number; readonly end: number; readonly isBlock: boolean };
}

/** Returns the functions of a file, outer ones first. */
const functionsOf = (source: Source): readonly FunctionRange[] => {
  const functions: FunctionRange[] = [];
  walk(programOf(source), (node) => {
    const body = bodyOf(node);
    if (body === null) return;
    const name = `${source.path}#${functions.length}`;
    const isBlock = body.type === "BlockStatement";
    functions.push({
      name,
      start: node.start,
      end: node.end,
      body: { start: body.start, end: body.end, isBlock },
    });
  });
  return functions;
};

/** Returns the innermost function around a mutant; undefined if the mutant runs as the file loads. */
const functionAround = (source: Source, { start, end }: Mutant): FunctionRange | undefined =>
  functionsOf(source).findLast((each) => each.start <= start && end <= each.end);

/** Returns a file's text, with a mutant if there is one, in which each function sets its mark at `indexOf` its name. */
export const markedText = (
  source: Source,
  mutant: Pick<Mutant, "start" | "end" | "replacement"> | null,
  indexOf: (name: string) => number,
): string => {
  const kept = functionsOf(source).filter(({ body }) => mutant === null || !isCutBy(body, mutant));
  const edits = kept.flatMap(({ name, body }) => {
    const mark = `globalThis.${marks}[${indexOf(name)}]=1`;
    return body.isBlock
      ? [insertion(body.start + 1, `${mark};`, 0)]
      : [insertion(body.start, `(${mark},`, 0), insertion(body.end, ")", 2)];
  });
  const all = mutant === null ? edits : [...edits, { ...mutant, rank: 1 }];
  const inOrder = all.toSorted((one, other) => one.start - other.start || one.rank - other.rank);
  let text = "";
  let at = 0;
  for (const { start, end, replacement } of inOrder) {
    text += source.text.slice(at, start) + replacement;
    at = end;
  }
  return text + source.text.slice(at);
};

const bodyOf = (node: Node): Node | null =>
  // All three kinds of function have a body, which is null if only the type is declared.
  isFunction(node) ? (node as Node & { readonly body: Node | null }).body : null;

/** Checks that a mutant rewrites code around a body, so that marks would be lost. */
const isCutBy = (body: FunctionRange["body"], { start, end }: Pick<Mutant, "start" | "end">): boolean =>
  !(end <= body.start || body.end <= start || (body.start <= start && end <= body.end));

const insertion = (at: number, replacement: string, rank: number): Insertion => ({
  start: at,
  end: at,
  replacement,
  rank,
});

/** Text to insert. At the same place the lowest rank comes first. */
interface Insertion extends Pick<Mutant, "start" | "end" | "replacement"> {
  readonly rank: number;
}
