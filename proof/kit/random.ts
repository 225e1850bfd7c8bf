/** Numbers that look random and follow from a seed. */
export interface Random {
  /** From 0 up to, but not, 1. */
  readonly next: () => number;
  /** A whole number from `min` to `max`, both included. */
  readonly integer: (min: number, max: number) => number;
  /** True in so many of a hundred cases. */
  readonly percent: (share: number) => boolean;
  /** One of several; undefined where there are none. */
  readonly pick: <Value>(values: readonly Value[]) => Value | undefined;
}

/** The numbers of a seed (mulberry32). */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer: Random["integer"] = (min, max) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    percent: (share) => integer(1, 100) <= share,
    pick: (values) => values[integer(0, values.length - 1)],
  };
};

/** A seed of its own for each text, so that what is drawn for one conversation does not depend on the others. */
export const seedOf = (seed: number, text: string): number => {
  let mixed = seed;
  for (let index = 0; index < text.length; index++) mixed = (Math.imul(mixed, 31) + text.charCodeAt(index)) | 0;
  return mixed;
};
