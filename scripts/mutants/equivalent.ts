/** A mutant that no test can kill, since nobody could notice it. */
export interface Equivalent {
  readonly path: string;
  /** The lines as they are, and as they are with the mutant, each on one line, as a survivor is printed. */
  readonly original: string;
  readonly mutated: string;
  readonly reason: string;
}

/** Of the machine. An entry that no longer names a mutant is reported, to be removed. */
export const equivalent: readonly Equivalent[] = [
  {
    path: "packages/machine/src/prompt/counts.ts",
    original: 'if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 0) : turn(whole);',
    mutated: 'if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 1) : turn(whole);',
    reason: "a run is named by one of its own turns, so there is always a count; the type can't say so",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "if (index < 0 || index >= chunks.length) return undefined;",
    mutated: "if (index < 0 || index > chunks.length) return undefined;",
    reason: "behind the last element no level holds the index either, and the end is undefined, too",
  },
];
