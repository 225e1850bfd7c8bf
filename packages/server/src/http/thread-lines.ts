/** Has what requests do to a thread be done one after the other: what one of them looked at stands until it has acted. */
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
