import type { LegEvent } from "./leg-writer.ts";

/** The log of a leg was let go while somebody read it. */
class LogLostError extends Error {
  override readonly name = "LogLostError";

  constructor() {
    super("what was shown of this response is not kept any more; read it again");
  }
}

/** What was shown of one leg, event by event, for those that read it now and for those that come back. */
export class LegLog {
  readonly #blocks: string[] = [];
  readonly #onGrowth: (characters: number) => void;
  /** Of all that it holds, in UTF-16 units. */
  #characters = 0;
  /** The number of the first event that is kept. */
  #first = 0;
  /** The number after that of the newest event that somebody read here. */
  #read = 0;
  #news: PromiseWithResolvers<void> | null = null;
  #isEnded = false;
  #lost: Error | null = null;

  /** @param onGrowth called with the characters of each event, and with less than none when they are let go */
  constructor(onGrowth: (characters: number) => void) {
    this.#onGrowth = onGrowth;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether a reader can begin at that number: the events from there on are kept, and the ones before were read here. Another server numbers otherwise. */
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

  /** Lets go of all events but the newest: who reads along goes on, and nobody can begin. */
  trim(): void {
    const gone = this.#blocks.splice(0, Math.max(this.#blocks.length - blocksAtOnce, 0));
    const characters = gone.reduce((sum, { length }) => sum + length, 0);
    this.#first += gone.length;
    this.#characters -= characters;
    this.#onGrowth(-characters);
  }

  /** Lets go of all events: who reads it now is cut off, and learns why; it can be had again from the journal. */
  lose(why: Error = new LogLostError()): void {
    if (this.#lost !== null) return;
    this.#lost = why;
    this.#blocks.length = 0;
    this.#onGrowth(-this.#characters);
    this.#characters = 0;
    this.#wake();
  }

  /** The events from that number on, as they come: those that are there as one text, which costs a reader less than each alone. @throws why it was let go */
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

/** An event as a block of a stream, with its number. */
export const blockOf = (event: LegEvent, number: number): string =>
  // Not by a copy of the event, which costs as much as its text: there are as many as tokens.
  `event: ${event.type}\ndata: ${JSON.stringify(event).slice(0, -1)},"sequence_number":${number}}`;

/** So that who reads slowly is not written a whole log. */
const blocksAtOnce = 64;
