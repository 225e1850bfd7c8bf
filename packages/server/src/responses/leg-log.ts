import type { LegEvent } from "./leg-writer.ts";

/** Thrown to a reader of a leg whose log was dropped. */
class LogLostError extends Error {
  override readonly name = "LogLostError";

  constructor() {
    super("what was shown of this response is not kept any more; read it again");
  }
}

/** The events of one leg, for clients that read it now and clients that reconnect. */
export class LegLog {
  readonly #blocks: string[] = [];
  readonly #onGrowth: (characters: number) => void;
  /** The size of all kept events, in UTF-16 units. */
  #characters = 0;
  /** The number of the oldest kept event. */
  #first = 0;
  /** One more than the number of the newest event that a client has read here. */
  #read = 0;
  #news: PromiseWithResolvers<void> | null = null;
  #isEnded = false;
  #lost: Error | null = null;

  /** @param onGrowth called with the size of each new event, and with a negative size when events are dropped */
  constructor(onGrowth: (characters: number) => void) {
    this.#onGrowth = onGrowth;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Checks whether a reader can start at a number: the events from there on are kept, and the earlier ones were read
   * here. Another server may number them otherwise.
   */
  hasFrom(number: number): boolean {
    return this.#keepsFrom(number) && number <= this.#read;
  }

  add(event: LegEvent): void {
    if (this.#lost !== null) return;
    const block = blockOf(event, this.#first + this.#blocks.length);
    this.#blocks.push(block);
    this.#characters += block.length;
    this.#onGrowth(block.length);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Drops all events but the newest. Present readers continue; no new reader can start. */
  trim(): void {
    const gone = this.#blocks.splice(0, Math.max(this.#blocks.length - blocksAtOnce, 0));
    const characters = gone.reduce((sum, { length }) => sum + length, 0);
    this.#first += gone.length;
    this.#characters -= characters;
    this.#onGrowth(-characters);
  }

  /** Drops all events. Present readers fail with `why`; the journal can still restore the events. */
  lose(why: Error = new LogLostError()): void {
    if (this.#lost !== null) return;
    this.#lost = why;
    this.#blocks.length = 0;
    this.#onGrowth(-this.#characters);
    this.#characters = 0;
    this.#wake();
  }

  /**
   * Yields the events from a number on as they come. Events that are there already are joined, which costs less than
   * one text each. @throws the reason why the log was dropped
   */
  async *read(from = 0): AsyncGenerator<string, undefined> {
    for (let next = from; ;) {
      while (next >= this.#first + this.#blocks.length && this.#lost === null) {
        if (this.#isEnded) return undefined;
        this.#news ??= Promise.withResolvers();
        await this.#news.promise;
      }
      if (!this.#keepsFrom(next)) throw this.#lost ?? new LogLostError();
      const blocks = this.#blocks.slice(next - this.#first, next - this.#first + blocksAtOnce);
      next += blocks.length;
      this.#read = Math.max(this.#read, next);
      yield blocks.join("\n\n");
    }
  }

  #keepsFrom(number: number): boolean {
    return this.#lost === null && number >= this.#first;
  }

  #wake(): void {
    this.#news?.resolve();
    this.#news = null;
  }
}

/** Formats an event as a numbered block of a stream. */
export const blockOf = (event: LegEvent, number: number): string =>
  // Append to the JSON text: a copy of the event would cost as much as its text, and there is one event for each token.
  `event: ${event.type}\ndata: ${JSON.stringify(event).slice(0, -1)},"sequence_number":${number}}`;

/** Limits a chunk, so that a slow reader is not sent a whole log at once. */
const blocksAtOnce = 64;
