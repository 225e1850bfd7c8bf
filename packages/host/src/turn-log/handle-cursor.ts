import { type CursorStart, LogCursor } from "./cursor.ts";
import type { LogReader, PartPlace, TurnLog } from "./log.ts";
import type { AskPart } from "./parts.ts";

/**
 * Reads what the handle to an ask shows: the log of its turn, and between the parts of the log those for this ask
 * alone. Nothing is copied: a log holds its parts for all handles, and bounds them for slow readers.
 */
export class HandleCursor implements LogReader {
  /** Whether it reads what is shown at the moment only: partial outputs, waits, and parts for this ask alone. */
  readonly #isLive: boolean;
  #cursor: LogCursor | null = null;
  /** The log that is read, or will be when the parts before it are read. */
  #log: TurnLog | null = null;
  /** Parts for this ask alone, and later logs, each at its position in the log before. */
  #own: Own[] = [];
  /** The place before the log that is read. */
  #before: PartPlace | null;
  #readers: PromiseWithResolvers<IteratorResult<AskPart, undefined>>[] = [];
  /** Whether the log that is read wakes this reader. */
  #isListening = false;
  #ended = false;
  #error: Error | null = null;
  /** The position up to which a log is read after an error. */
  #limit = Infinity;
  /** The end of the turn. It is shown with the outcome of the ask. */
  #ending: AskPart | null = null;
  #hasOutcome = false;
  /** The position in the log at which the thread was last waited for; null if it is not waited for. */
  #waitsAt: number | null = null;
  /** Whether the last part that was read says that the thread is waited for. */
  #isWaiting = false;
  /** A part that is read after the end of the wait. */
  #held: AskPart | null = null;
  /** Whether the last part that was read says that what was shown of the step is void. */
  #isVoid = false;
  /** The turn that was shown to start; null before there is one. */
  #started: number | null = null;
  /** The ids of approvals and results that were asked for; null if there are none. */
  #requests: Set<string> | null = null;

  /** @param from the place after which the first log is read; null for its beginning, and for readers of the moment. */
  constructor(isLive: boolean = true, from: PartPlace | null = null) {
    this.#isLive = isLive;
    this.#before = from;
  }

  /** The place after the newest part that was read; null before one that has a place. */
  get place(): PartPlace | null {
    return this.#cursor?.place ?? this.#before;
  }

  /** Reads a log after everything that is there to read so far. */
  follow(log: TurnLog, start: CursorStart): void {
    if (this.#log === log) return;
    const { place } = this;
    const isBehind = !this.#isLive && place?.turn === log.turn;
    const cursor = new LogCursor(log, isBehind ? place : start, this.#isLive);
    if (this.#cursor === null && this.#own.length === 0) this.#cursor = cursor;
    else this.#own.push({ at: this.#end, cursor });
    this.#log = log;
    this.wake();
  }

  /** Shows a part to this ask alone. It is immutable from here on. */
  push(part: AskPart): void {
    // A log that is read from a place says the same.
    if (!this.#isLive && this.#log !== null) return;
    this.endWait();
    this.#add(part);
  }

  /** Shows that another host has the thread, until `endWait`, or until something else is shown. */
  beginWait(until: number): void {
    if (this.#waitsAt === this.#end || !this.#isLive || this.#ended) return;
    this.#waitsAt = this.#end;
    this.#add({ type: "wait.started", for: "lease", until });
  }

  endWait(): void {
    if (this.#waitsAt !== null) this.#add(waitEnded);
    this.#waitsAt = null;
  }

  /** Shows the end of the turn. @param part the last part, if the log does not have it */
  endTurn(part: AskPart): void {
    if (this.#ended) return;
    if (this.#isLive) this.#ending ??= Object.freeze(part);
    this.#hasOutcome = true;
    this.end(null);
  }

  /** Ends the parts. If there is an error, reading past the last part throws it. */
  end(error: Error | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    if (error !== null) this.#limit = this.#end;
    this.wake();
  }

  next(): Promise<IteratorResult<AskPart, undefined>> {
    const part = this.#readers.length === 0 ? this.#take() : null;
    if (part !== null) return Promise.resolve({ value: part, done: false });
    const reader = Promise.withResolvers<IteratorResult<AskPart, undefined>>();
    this.#readers.push(reader);
    if (this.#ended) this.wake();
    else this.#listen();
    return reader.promise;
  }

  /** Gives waiting readers what there is to read. */
  wake(): void {
    this.#isListening = false;
    while (this.#readers.length > 0) {
      const part = this.#take();
      if (part === null && !this.#ended) return this.#listen();
      const reader = this.#readers.shift();
      const error = this.#error;
      if (part !== null) reader?.resolve({ value: part, done: false });
      else if (error === null) reader?.resolve({ value: undefined, done: true });
      else reader?.reject(error);
      if (part === null) this.#error = null;
    }
  }

  #listen(): void {
    if (this.#isListening || this.#cursor === null) return;
    this.#isListening = true;
    this.#cursor.wakeLater(this);
  }

  get #end(): number {
    return this.#log?.end ?? 0;
  }

  #add(part: AskPart): void {
    if (this.#ended) return;
    this.#own.push({ at: this.#end, part: Object.freeze(part) });
    this.wake();
  }

  #take(): AskPart | null {
    let part = this.#held;
    this.#held = null;
    while (part === null) {
      part = this.#nextPart();
      if (part === null) return null;
      if (this.#isRepeated(part)) part = null;
    }
    if (part.type === "wait.started" && part.for === "lease") this.#isWaiting = true;
    else if (this.#isWaiting) {
      this.#isWaiting = false;
      if (part.type !== "wait.ended") {
        this.#held = part;
        return waitEnded;
      }
    }
    return part;
  }

  #nextPart(): AskPart | null {
    for (;;) {
      const own = this.#own[0];
      const part = this.#cursor?.next(own?.at ?? this.#limit) ?? null;
      if (part?.type === "turn.ended") this.#ending = part;
      else if (part !== null) return part;
      else if (own === undefined) break;
      else {
        this.#own.shift();
        if ("part" in own) return own.part;
        this.#before = this.place;
        this.#cursor = own.cursor;
      }
    }
    const ending = this.#hasOutcome ? this.#ending : null;
    if (ending !== null) this.#ending = null;
    return ending;
  }

  /** Returns whether a part only repeats another, as hosts do that take a thread over. */
  #isRepeated(part: AskPart): boolean {
    if (part === waitEnded) return !this.#isWaiting;
    if (part.type === "wait.started") return false;
    // Both the host that lost the thread and the one that makes the step again say so.
    const wasVoid = this.#isVoid;
    this.#isVoid = part.type === "thread.lost";
    if (this.#isVoid || part.type === "replay.started") this.#requests = null;
    if (this.#isVoid) return wasVoid;
    // A reader of the moment saw the turn start, also where the steps of it are shown again.
    if (part.type === "turn.started" && this.#isLive) {
      const isSame = this.#started === part.turn;
      this.#started = part.turn;
      return isSame;
    }
    if (part.type !== "approval.requested" && part.type !== "result.requested") return false;
    const id = part.type === "approval.requested" ? part.request.id : part.callId;
    const requests = (this.#requests ??= new Set());
    return requests.size === requests.add(id).size;
  }
}

type Own = { readonly at: number; readonly part: AskPart } | { readonly at: number; readonly cursor: LogCursor };

const waitEnded: AskPart = Object.freeze({ type: "wait.ended" });
