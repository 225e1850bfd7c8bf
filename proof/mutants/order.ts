import { posix } from "node:path";

import type { Source } from "../../test/rules/source.ts";
import { linksOf, packagesOf } from "../../test/rules/workspace.ts";
import type { Passed } from "./messages.ts";
import type { Mutant } from "./mutations.ts";
import { functionAround } from "./reach.ts";

/** The tests that can notice a mutant, those first that are likely to, at the least cost. */
export class TestOrder {
  readonly #tests: readonly Source[];
  readonly #sources: ReadonlyMap<string, Source>;
  /** Path of a module to those that import it. */
  readonly #importers: ReadonlyMap<string, readonly string[]>;
  readonly #seconds = new Map<string, number>();
  /** The functions that the tests of a file call. */
  readonly #reached = new Map<string, ReadonlySet<string>>();
  /** Functions that are called when something is loaded, so that whatever comes later may rest on them. */
  readonly #loaded = new Set<string>();

  constructor(tests: readonly Source[], sources: readonly Source[]) {
    this.#tests = tests;
    this.#sources = new Map(sources.map((source) => [source.path, source]));
    this.#importers = importersIn(sources);
  }

  /**
   * Notes files that were run, against a mutant or none. Those that never reached the mutant show their behaviour
   * without one.
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

  /** Of all that imports a module, itself or through others: through how many. */
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

/** So that many short files do not count as free. */
const startSeconds = 0.02;

/** Whether a test lies in the folder that is named like the module's. */
const isBeside = (test: string, path: string): boolean =>
  posix.basename(posix.dirname(test)) === posix.basename(posix.dirname(path));

/** `snapshot-opened.test.ts` and `snapshot-turn.ts` share one. */
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
