/** Steps that run one behind the other. */
export class InOrder {
  #count = 0;
  #isBehindAnswer = false;
  #last: Promise<void> = Promise.resolve();
  readonly #onIdle: (isBehindAnswer: boolean) => void;

  /** @param onIdle called behind the last step; whether one of them was behind an answer */
  constructor(onIdle: (isBehindAnswer: boolean) => void) {
    this.#onIdle = onIdle;
  }

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Runs a step behind those before it, whether they failed or not. */
  run(step: () => Promise<void>, isBehindAnswer: boolean): Promise<void> {
    return this.#counted(() => {
      const done = this.#last.then(step);
      this.#last = done.catch(() => {});
      return done;
    }, isBehindAnswer);
  }

  /** Does something at once, which may run steps: it is busy until that is done. */
  during(work: () => Promise<void>): Promise<void> {
    return this.#counted(work, false);
  }

  async #counted(work: () => Promise<void>, isBehindAnswer: boolean): Promise<void> {
    this.#count++;
    this.#isBehindAnswer ||= isBehindAnswer;
    try {
      await work();
    } finally {
      this.#count--;
      if (!this.isBusy) this.#idle();
    }
  }

  #idle(): void {
    const isBehindAnswer = this.#isBehindAnswer;
    this.#isBehindAnswer = false;
    this.#onIdle(isBehindAnswer);
  }
}
