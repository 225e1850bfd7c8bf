/** Steps that run one after the other. */
export class InOrder {
  #count = 0;
  #isBehindAnswer = false;
  #last: Promise<void> = Promise.resolve();
  readonly #onIdle: (isBehindAnswer: boolean) => void;

  /** @param onIdle called after the last step, with whether one of them followed an answer */
  constructor(onIdle: (isBehindAnswer: boolean) => void) {
    this.#onIdle = onIdle;
  }

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Runs a step after those before it, whether they failed or not. */
  run(step: () => Promise<void>, isBehindAnswer: boolean): Promise<void> {
    return this.#counted(() => {
      const done = this.#last.then(step);
      this.#last = done.catch(() => {});
      return done;
    }, isBehindAnswer);
  }

  /** Does work at once, which may run steps; counts as busy until its end. */
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
