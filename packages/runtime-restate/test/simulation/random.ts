/** Returns a generator of numbers from 0 up to 1 by a seed. */
export const randomBy = (seed: number): (() => number) => {
  let at = seed | 0;
  return () => {
    at = (at + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
