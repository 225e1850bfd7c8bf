/** A growing digest of texts, in their order: two hashes of 32 bits (FNV-1a with different primes), not cryptographic. */
export class Digest {
  #high = 0x811c9dc5;
  #low = 0x9747b28c;

  constructor(text: string) {
    this.add(text);
  }

  add(text: string): void {
    let [high, low] = [this.#high, this.#low];
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul(low ^ code, 0x85ebca6b);
      low ^= low >>> 15;
    }
    // A mark between texts, so that "ab", "c" differs from "a", "bc".
    this.#high = Math.imul(high ^ 0xff, 0x01000193);
    this.#low = Math.imul(low ^ 0xff, 0x85ebca6b);
  }

  get text(): string {
    return `${this.#high >>> 0}.${this.#low >>> 0}`;
  }

  /** A key of 53 bits. */
  get key(): number {
    return (this.#high >>> 0) * 2 ** 21 + (this.#low >>> 11);
  }
}
