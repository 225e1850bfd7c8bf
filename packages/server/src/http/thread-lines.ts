/**
 * Runs the requests that change a thread one after the other, so that the state each one read is still valid when it
 * acts.
 */
export class ThreadLines {
  readonly #last = new Map<string, Promise<void>>();

  async next<Done>(threadId: string, work: () => Promise<Done>): Promise<Done> {
    const before = this.#last.get(threadId);
    const over = Promise.withResolvers<void>();
    this.#last.set(threadId, over.promise);
    try {
      await before;
      return await work();
    } finally {
      over.resolve();
      if (this.#last.get(threadId) === over.promise) this.#last.delete(threadId);
    }
  }
}
