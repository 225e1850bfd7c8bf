/** Draws soon after a request, at a limited rate, and never without a request. */
export class Pace {
  readonly #draw: () => void;
  readonly #everyMs: number;
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(draw: () => void, everyMs: number) {
    this.#draw = draw;
    this.#everyMs = everyMs;
  }

  ask(): void {
    this.#timer ??= setTimeout(() => this.now(), Math.max(0, this.#last + this.#everyMs - performance.now()));
  }

  now(): void {
    this.stop();
    this.#last = performance.now();
    this.#draw();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
