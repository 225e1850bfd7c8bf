import type { LegEvent } from "./leg-writer.ts";
import { errorOf, type LegFacts, responseObject, statusOf } from "./response-object.ts";

/** A response that can be read: its present facts, its end, and its events. */
export interface ReadableLeg {
  readonly facts: LegFacts;
  /** Settles when the leg has ended; rejects if the host failed to continue it. */
  readonly ended: Promise<void>;
  /** Returns its events from a number on, as blocks of a stream; null if the earlier ones are not kept. */
  blocks(from: number): AsyncIterable<string> | null;
}

/** A leg with its events, shown as they come or restored from the journal. */
export class Leg implements ReadableLeg {
  readonly log: LegLog = new LegLog();
  #facts: LegFacts;
  readonly #end = Promise.withResolvers<void>();
  readonly ended: Promise<void> = this.#end.promise;

  constructor(begun: Pick<LegFacts, "place" | "echo" | "createdAt">) {
    this.#facts = { ...begun, endedAt: null, outcome: null, items: [], usage: null };
    // The rejection needs no handler.
    this.#end.promise.catch(() => {});
    const response = responseObject(this.#facts);
    this.log.add({ type: "response.created", response });
    this.log.add({ type: "response.in_progress", response });
  }

  get facts(): LegFacts {
    return this.#facts;
  }

  blocks(from: number): AsyncIterable<string> | null {
    return this.log.hasFrom(from) ? this.log.read(from) : null;
  }

  seal(end: Pick<LegFacts, "endedAt" | "outcome" | "items" | "usage">): void {
    const { place, echo, createdAt } = this.#facts;
    this.#facts = { place, echo, createdAt, ...end };
    for (const event of endEventsOf(this.#facts)) this.log.add(event);
    this.log.end();
    this.#end.resolve();
  }

  /** Ends the leg for its readers, since the host failed to continue it. */
  fail(why: Error): void {
    this.#end.reject(why);
    this.log.lose(why);
  }
}

const endEventsOf = (facts: LegFacts): readonly LegEvent[] => {
  const status = statusOf(facts);
  const type = status === "completed" || status === "failed" ? `response.${status}` : "response.incomplete";
  const end = { type, response: responseObject(facts) };
  return status === "failed" && facts.outcome !== null
    ? [{ type: "error", param: null, ...errorOf(facts.outcome) }, end]
    : [end];
};

const logLost = (): Error => new Error("what was shown of this response is not kept any more; read it again");

/** The events of one leg, for clients that read it now and clients that reconnect. */
class LegLog {
  readonly #blocks: string[] = [];
  #onGrowth: (characters: number) => void = () => {};
  /** The number of the oldest kept event. */
  #first = 0;
  /** One more than the number of the newest event that a client has read here. */
  #read = 0;
  #news: PromiseWithResolvers<void> | null = null;
  #isEnded = false;
  #lost: Error | null = null;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Reports the size of the kept events in UTF-16 units, of each later one, and a negative size for dropped ones. */
  countBy(onGrowth: (characters: number) => void): void {
    this.#onGrowth = onGrowth;
    onGrowth(sizeOf(this.#blocks));
  }

  /** Checks whether a reader can start at a number: events are kept from there, and earlier ones were read here. */
  hasFrom(number: number): boolean {
    return this.#keepsFrom(number) && number <= this.#read;
  }

  add(event: LegEvent): void {
    if (this.#lost !== null) return;
    const block = blockOf(event, this.#first + this.#blocks.length);
    this.#blocks.push(block);
    this.#onGrowth(block.length);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Drops all events but the newest. Present readers continue; no new reader can start. */
  trim(): void {
    this.#drop(Math.max(this.#blocks.length - blocksAtOnce, 0));
  }

  /** Drops all events. Present readers fail with `why`; the journal can still restore the events. */
  lose(why: Error = logLost()): void {
    if (this.#lost !== null) return;
    this.#lost = why;
    this.#drop(this.#blocks.length);
    this.#wake();
  }

  /** Yields the events from a number on as they come, those that are there joined. @throws why the log was lost */
  async *read(from: number): AsyncGenerator<string, undefined> {
    for (let next = from; ;) {
      while (next >= this.#first + this.#blocks.length && this.#lost === null) {
        if (this.#isEnded) return undefined;
        this.#news ??= Promise.withResolvers();
        await this.#news.promise;
      }
      if (!this.#keepsFrom(next)) throw this.#lost ?? logLost();
      const blocks = this.#blocks.slice(next - this.#first, next - this.#first + blocksAtOnce);
      next += blocks.length;
      this.#read = Math.max(this.#read, next);
      yield blocks.join("\n\n");
    }
  }

  #drop(count: number): void {
    const gone = this.#blocks.splice(0, count);
    this.#first += gone.length;
    this.#onGrowth(-sizeOf(gone));
  }

  #keepsFrom(number: number): boolean {
    return this.#lost === null && number >= this.#first;
  }

  #wake(): void {
    this.#news?.resolve();
    this.#news = null;
  }
}

const sizeOf = (blocks: readonly string[]): number => blocks.reduce((sum, { length }) => sum + length, 0);

/** Formats an event as a numbered block of a stream. */
const blockOf = (event: LegEvent, number: number): string =>
  // Append to the JSON text: a copy of the event would cost as much as its text, and there is one event for each token.
  `event: ${event.type}\ndata: ${JSON.stringify(event).slice(0, -1)},"sequence_number":${number}}`;

/** Limits a chunk, so that a slow reader is not sent a whole log at once. */
const blocksAtOnce = 64;
