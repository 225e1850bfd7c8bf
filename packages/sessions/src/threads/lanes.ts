/** Queues of work by name: work of the same name runs one after the other. */
export class Lanes {
  readonly #last = new Map<string, Promise<void>>();

  run<Done>(name: string, work: () => Promise<Done>): Promise<Done> {
    const done = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const over = done.then(nothing, nothing).finally(() => {
      if (this.#last.get(name) === over) this.#last.delete(name);
    });
    this.#last.set(name, over);
    return done;
  }
}

const nothing = (): void => {};
