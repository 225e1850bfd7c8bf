import type { AskPart } from "./parts.ts";

/**
 * The parts that are not read yet. Bounded, however slowly they are read: text that comes in pieces is joined, and beyond
 * `partsMax` the oldest parts are let go, which the next part then says.
 */
export class PartQueue {
  #parts: AskPart[] = [];
  #dropped = 0;
  #ended = false;
  #waits = false;
  #error: Error | null = null;
  readonly #readers: PromiseWithResolvers<IteratorResult<AskPart, undefined>>[] = [];

  /** A part is immutable from here on: several asks may wait for one turn, and each is shown the same. */
  push(part: AskPart): void {
    this.endWait();
    this.#add(part);
  }

  /** Shows that another host has the thread, until `endWait`, or until something else is shown. */
  beginWait(until: number): void {
    if (this.#waits) return;
    this.#add({ type: "wait.started", for: "lease", until });
    this.#waits = true;
  }

  endWait(): void {
    if (this.#waits) this.#add({ type: "wait.ended" });
    this.#waits = false;
  }

  #add(part: AskPart): void {
    if (this.#ended) return;
    Object.freeze(part);
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value: part, done: false });
      return;
    }
    let last = this.#parts.length - 1;
    // What there is of an output stands behind the text that it is read from, and a newer one in place of an older one.
    if (this.#parts[last]?.type === "output.partial" && part.type === "text.delta") last--;
    const joined = joinedWith(this.#parts[last], part);
    if (joined !== null) {
      this.#parts[last] = Object.freeze(joined);
      return;
    }
    this.#parts.push(part);
    if (this.#parts.length > partsMax) this.#letGo();
  }

  /** No part comes any more; with an error, reading past the last one throws it. */
  end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    const first = error === null ? undefined : this.#readers.shift();
    if (error !== null && first !== undefined) first.reject(error);
    else this.#error = error;
    for (const reader of this.#readers.splice(0)) reader.resolve({ value: undefined, done: true });
  }

  /** @param onNext called whenever a part is asked for. */
  iterator(onNext: () => void): AsyncIterator<AskPart, undefined> {
    const next = () => {
      onNext();
      return this.next();
    };
    return { next };
  }

  next(): Promise<IteratorResult<AskPart, undefined>> {
    if (this.#dropped > 0) {
      const count = this.#dropped;
      this.#dropped = 0;
      return Promise.resolve({ value: { type: "parts.dropped", count }, done: false });
    }
    const part = this.#parts.shift();
    if (part !== undefined) return Promise.resolve({ value: part, done: false });
    if (!this.#ended) {
      const reader = Promise.withResolvers<IteratorResult<AskPart, undefined>>();
      this.#readers.push(reader);
      return reader.promise;
    }
    const error = this.#error;
    this.#error = null;
    return error === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error);
  }

  /** Many at once, so that each one does not cost a walk over all. */
  #letGo(): void {
    this.#dropped += partsMax / 2;
    this.#parts = this.#parts.slice(partsMax / 2);
  }
}

/** Unread parts, text joined. More than a turn of a few hundred tool calls makes. */
const partsMax = 2048;

const joinedWith = (last: AskPart | undefined, next: AskPart): AskPart | null => {
  switch (next.type) {
    case "text.delta":
    case "reasoning.delta":
    case "refusal.delta":
      return last?.type === next.type && last.step === next.step && last.attempt === next.attempt
        ? { ...last, text: last.text + next.text }
        : null;
    case "toolCall.delta":
      return last?.type === next.type &&
        last.step === next.step &&
        last.attempt === next.attempt &&
        last.position === next.position
        ? { ...next, arguments: last.arguments + next.arguments }
        : null;
    case "output.partial":
      return last?.type === next.type && last.step === next.step ? next : null;
    default:
      return null;
  }
};
