import { goesOnWith, textOfDelta, withText } from "./joined-parts.ts";
import { cursorAt, type PartPlace } from "./part-place.ts";
import type { AskPart } from "./parts.ts";

/**
 * The parts that are not read yet. The queue is bounded, however slow the reader: pieces of text are joined, and beyond
 * `partsMax` the oldest parts are dropped. The next part then says how many.
 */
export class PartQueue {
  #parts: AskPart[] = [];
  /** The place of each part. Kept apart, since it is rarely asked for. */
  #places: (PartPlace | null)[] = [];
  #dropped = 0;
  #ended = false;
  #waits = false;
  #error: Error | null = null;
  readonly #readers: PromiseWithResolvers<IteratorResult<AskPart, undefined>>[] = [];

  #place: PartPlace | null = null;
  /** Whether the newest part says that what was shown of the step is void. */
  #isVoid = false;
  /** The ids of approvals and results that were asked for; null if there are none. */
  #requests: Set<string> | null = null;

  /** The place after the newest part that was read; null before one that has a place. */
  get cursor(): string | null {
    return this.#place === null ? null : cursorAt(this.#place);
  }

  /**
   * Adds a part, which is immutable from here on: several asks may wait for one turn, and each is shown the same part.
   *
   * @param place null for a part that only this ask is shown.
   */
  push(part: AskPart, place: PartPlace | null = null): void {
    this.endWait();
    // Both the host that lost the thread and the one that makes the step again say so.
    if (this.#isVoid && part.type === "thread.lost") return;
    this.#isVoid = part.type === "thread.lost";
    if (!this.#isShownAgain(part)) this.#add(part, place);
  }

  /** Returns whether the part repeats a request of the turn, shown again by a host that took the thread over. */
  #isShownAgain(part: AskPart): boolean {
    if (part.type === "thread.lost") this.#requests = null;
    if (part.type !== "approval.requested" && part.type !== "result.requested") return false;
    const id = part.type === "approval.requested" ? part.request.id : part.callId;
    const requests = (this.#requests ??= new Set());
    return requests.size === requests.add(id).size;
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

  #add(part: AskPart, place: PartPlace | null = null): void {
    if (this.#ended) return;
    Object.freeze(part);
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value: part, done: false });
      this.#place = place ?? this.#place;
      return;
    }
    let last = this.#parts.length - 1;
    // A partial output comes after the text that it is read from, and a newer one replaces an older one.
    if (this.#parts[last]?.type === "output.partial" && part.type === "text.delta") last--;
    const unread = this.#parts[last];
    if (unread !== undefined && goesOnWith(unread, part)) {
      this.#parts[last] = withText(part, (textOfDelta(unread) ?? "") + (textOfDelta(part) ?? ""));
      this.#places[last] = place;
      return;
    }
    this.#parts.push(part);
    this.#places.push(place);
    if (this.#parts.length > partsMax) this.#letGo();
  }

  /** Ends the queue. If there is an error, reading past the last part throws it. */
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
    if (part !== undefined) {
      this.#place = this.#places.shift() ?? this.#place;
      return Promise.resolve({ value: part, done: false });
    }
    if (!this.#ended) {
      const reader = Promise.withResolvers<IteratorResult<AskPart, undefined>>();
      this.#readers.push(reader);
      return reader.promise;
    }
    const error = this.#error;
    this.#error = null;
    return error === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(error);
  }

  /** Drops many parts at once, so that not every new part moves the whole list. */
  #letGo(): void {
    this.#dropped += partsMax / 2;
    this.#parts = this.#parts.slice(partsMax / 2);
    this.#places = this.#places.slice(partsMax / 2);
  }
}

/** The largest number of unread parts, with their text joined. More than a turn of a few hundred tool calls makes. */
export const partsMax = 2048;
