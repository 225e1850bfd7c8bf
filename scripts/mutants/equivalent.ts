/** A mutant that no test can kill, since nobody could notice it. */
export interface Equivalent {
  readonly path: string;
  /** The lines as they are, and as they are with the mutant, each on one line, as a survivor is printed. */
  readonly original: string;
  readonly mutated: string;
  readonly reason: string;
}

/** Of the machine. An entry that no longer names a mutant is reported, to be removed. */
export const equivalent: readonly Equivalent[] = [];
