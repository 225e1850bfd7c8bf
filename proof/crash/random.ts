/** Numbers that look random and follow from a seed. */
export interface Random {
  /** A whole number from `min` to `max`, both included. */
  readonly integer: (min: number, max: number) => number;
  /** True in so many of a hundred cases. */
  readonly percent: (share: number) => boolean;
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
  return { integer, percent: (share) => integer(1, 100) <= share };
};
