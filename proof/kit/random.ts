export interface Random {
  /** Draws a number in [0, 1). */
  readonly next: () => number;
  /** Draws a whole number from `min` to `max`, both included. */
  readonly integer: (min: number, max: number) => number;
  /** Returns true with a probability of `share` percent. */
  readonly percent: (share: number) => boolean;
  /** Picks one of the values; undefined if there are none. */
  readonly pick: <Value>(values: readonly Value[]) => Value | undefined;
}

/** Makes the generator of a seed (mulberry32). */
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

/** Derives a seed from a text, so that the numbers of one conversation do not depend on those of the others. */
export const seedOf = (seed: number, text: string): number => {
  let mixed = seed;
  for (let index = 0; index < text.length; index++) mixed = (Math.imul(mixed, 31) + text.charCodeAt(index)) | 0;
  return mixed;
};
