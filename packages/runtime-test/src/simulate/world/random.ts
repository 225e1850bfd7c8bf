/**
 * A source of random numbers that a seed determines: sfc32 by Chris Doty-Humphrey (PractRand, public domain). The label
 * makes streams of one seed independent, so that more numbers in one place change nothing in another.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** @param seed a whole number from 0 to 2^53 - 1 */
  constructor(seed: number, label: string) {
    this.#a = hash(label);
    this.#b = seed >>> 0;
    this.#c = Math.floor(seed / 2 ** 32) >>> 0;
    for (let round = 0; round < roundsToMix; round++) this.next();
  }

  /** Returns a number from 0 up to, but not including, 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** Returns true with this probability; for 0 it consumes no random number. */
  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  /** Returns a whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Returns one item of a list that is not empty. */
  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }
}

/** As many as the author uses for a seed of this size. */
const roundsToMix = 12;

/** FNV-1a, 32 bits. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
};
