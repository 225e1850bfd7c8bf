/** Steps that run one behind the other. */
export class InOrder {
  #count = 0;
  #last: Promise<void> = Promise.resolve();
  readonly #onIdle: (isBehindAnswer: boolean) => void;

  /** @param onIdle called behind the last step, with what that was run with */
  constructor(onIdle: (isBehindAnswer: boolean) => void) {
    this.#onIdle = onIdle;
  }

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Runs a step behind those before it, whether they failed or not. */
  async run(step: () => Promise<void>, isBehindAnswer: boolean): Promise<void> {
    this.#count++;
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    try {
      await done;
    } finally {
      this.#count--;
      if (!this.isBusy) this.#onIdle(isBehindAnswer);
    }
  }
}
