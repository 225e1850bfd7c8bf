// Readers of the log of a turn: a cursor for its parts, and one for all that the handle to an ask shows.
import { ofJournal, type PartPlace, textOfDelta, type TurnLog, withText, type LogReader } from "./log.ts";
import type { AskPart } from "./parts.ts";

/** Where a cursor starts: at the first part, after or at the newest (read again), or after a place. */
export type CursorStart = "first" | "end" | "newest" | PartPlace;

/** Reads the log of a turn at its own pace, each part once. Text that arrives meanwhile is read as one part. */
export class LogCursor {
  readonly log: TurnLog;
  /** The position of the part that was read last. */
  #at = -1;
  /** That part as it was when it was read, and how much of its text was read. */
  #part: AskPart | null = null;
  #read = 0;
  /** Whether partial outputs are read, and the newest that was. */
  readonly #isLive: boolean;
  #partial: AskPart | null = null;
  /** The place after the part that was read last; null before there is one. */
  #epoch: number | null = null;
  #index = 0;
  #offset = 0;
  /** The place after which it reads, until that was reached, and whether it was looked for. */
  #behind: PartPlace | null = null;
  #isFound = true;
  /** How many parts are missing before the next one. */
  #missing = 0;

  /** @param isLive whether partial outputs are read, which are shown at the moment only. */
  constructor(log: TurnLog, start: CursorStart, isLive: boolean = false) {
    this.log = log;
    this.#isLive = isLive;
    if (start === "first") return;
    if (typeof start === "object") {
      this.#behind = start;
      this.#isFound = false;
      ({ epoch: this.#epoch, index: this.#index, offset: this.#offset } = start);
      return;
    }
    this.#at = start === "end" ? log.end - 1 : log.end - 2;
    const part = log.at(this.#at);
    this.#part = part?.part ?? null;
    this.#read = part?.text?.length ?? 0;
    this.#partial = part?.partial ?? null;
  }

  /** The place after the part that was read last; null before there is one. */
  get place(): PartPlace | null {
    if (this.#epoch === null) return null;
    return { turn: this.log.turn, epoch: this.#epoch, index: this.#index, offset: this.#offset };
  }

  /** Returns the next part; null while there is none. @param until the position before which it reads */
  next(until: number = Infinity): AskPart | null {
    if (!this.#isFound) {
      const again = this.#find();
      if (again !== null) return again;
    }
    for (let part = this.#nextKept(until); part !== null; part = this.#nextKept(until)) {
      const unread = this.#behind === null ? part : this.#unreadOf(part, this.#behind);
      if (unread !== null) return unread;
    }
    return null;
  }

  /** Goes to the place after which it reads. If that is not kept, the parts start over. */
  #find(): AskPart | null {
    const { first, end } = this.log;
    const behind = this.#behind;
    if (behind === null || first === end) return null;
    this.#isFound = true;
    const position = this.log.positionOf(behind.epoch, behind.index);
    if (position === null) return this.log.at(first)?.part.type === "replay.started" ? this.#begin() : this.#anew();
    this.#at = position - 1;
    this.#missing = Math.max((this.log.at(position)?.index ?? 0) - behind.index - 1, 0);
    return null;
  }

  #nextKept(until: number): AskPart | null {
    const { first } = this.log;
    if (this.#missing > 0 || this.#at < first - 1) return this.#missed(first);
    const last = this.log.at(this.#at);
    if (last !== undefined && this.#part !== null) {
      if (last.part !== this.#part) return this.#piece(last);
      if (this.#isLive && last.partial !== this.#partial) return (this.#partial = last.partial);
    }
    const next = this.#at + 1 < until ? this.log.at(this.#at + 1) : undefined;
    if (next === undefined) return null;
    this.#at++;
    this.#read = 0;
    this.#partial = null;
    return this.#piece(next);
  }

  #piece({ part, text, epoch, index, offset }: NonNullable<ReturnType<TurnLog["at"]>>): AskPart {
    const read = this.#read;
    this.#part = part;
    this.#epoch = epoch;
    this.#index = index;
    this.#read = text?.length ?? 0;
    this.#offset = offset + this.#read;
    // The usual reader has read all but the last piece.
    if (text === null || text.length - (textOfDelta(part)?.length ?? 0) === read) return part;
    return withText(part, text.slice(read));
  }

  /** Returns the part of a part after the place from which it reads; null for one before that. */
  #unreadOf(part: AskPart, behind: PartPlace): AskPart | null {
    if (part.type === "parts.dropped") return part;
    // The place was not reached yet.
    if (this.#epoch !== behind.epoch) return this.#anew();
    const unread = this.#index === behind.index ? this.#offset - behind.offset : this.#index - behind.index;
    if (unread < 0) return null;
    this.#behind = null;
    if (this.#index > behind.index) return part;
    const text = textOfDelta(part);
    return text === null || unread === 0 ? null : withText(part, text.slice(text.length - unread));
  }

  #begin(): null {
    this.#behind = null;
    this.#at = this.log.first - 1;
    this.#part = null;
    return null;
  }

  #anew(): AskPart {
    this.#begin();
    this.#epoch = ofJournal;
    this.#index = 0;
    this.#offset = 0;
    return Object.freeze({ type: "replay.started", turn: this.log.turn, step: 1, synthesised: false });
  }

  /** Returns the number of parts before the next one that were dropped unread. */
  #missed(first: number): AskPart {
    const count = Math.max(this.#missing, first - 1 - this.#at);
    this.#missing = 0;
    this.#at = Math.max(this.#at, first - 1);
    this.#part = null;
    const next = this.log.at(this.#at + 1);
    if (next !== undefined) {
      this.#epoch = next.epoch;
      this.#index = next.index - 1;
    }
    this.#offset = 0;
    return Object.freeze({ type: "parts.dropped", count });
  }
}

export const cursorAt = ({ turn, epoch, index, offset }: PartPlace): string =>
  `${turn}.${epoch === ofJournal ? "journal" : epoch}.${index}.${offset}`;

/** Returns the place that a cursor names; null for a text that is not a cursor. */
export const placeOf = (cursor: string): PartPlace | null => {
  const [, turn, epoch, index, offset] = /^(\d{1,16})\.(journal|\d{1,16})\.(\d{1,16})\.(\d{1,16})$/u.exec(cursor) ?? [];
  if (turn === undefined) return null;
  return {
    turn: Number(turn),
    epoch: epoch === "journal" ? ofJournal : Number(epoch),
    index: Number(index),
    offset: Number(offset),
  };
};

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
  /** The log that wakes this reader at its next part; null if none does. */
  #awaited: TurnLog | null = null;
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

  get place(): PartPlace | null {
    return this.#cursor?.place ?? this.#before;
  }

  follow(log: TurnLog, start: CursorStart): void {
    if (this.#log === log) return;
    const { place } = this;
    const isBehind = !this.#isLive && place?.turn === log.turn;
    const cursor = new LogCursor(log, isBehind ? place : start, this.#isLive);
    this.#own.push({ at: this.#end, cursor });
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
    this.#awaited = null;
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
    const log = this.#cursor?.log ?? null;
    if (this.#awaited === log) return;
    this.#awaited = log;
    log?.wakeLater(this);
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
