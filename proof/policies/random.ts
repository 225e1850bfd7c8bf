/** Numbers from 0 to 1; the same seed gives the same ones (mulberry32). */
export type Random = () => number;

export const randomOf = (seed: number): Random => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** One of several; undefined where there are none. */
export const pick = <Value>(random: Random, values: readonly Value[]): Value | undefined =>
  values[Math.floor(random() * values.length)];

/** A seed of its own for each text, so that what is drawn for one conversation does not depend on the others. */
export const seedOf = (seed: number, text: string): number => {
  let mixed = seed;
  for (let index = 0; index < text.length; index++) mixed = (Math.imul(mixed, 31) + text.charCodeAt(index)) | 0;
  return mixed;
};
