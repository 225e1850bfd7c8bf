import { canonicalText } from "@colloquy/machine";
import type { Clock } from "../ports/clock.ts";
import type { AskPart } from "./parts.ts";

/** A parsed cursor: the place of a part in its turn, the same in every process that shows it. */
export interface PartPlace {
  readonly turn: number;
  /** The token of the lease under which it was shown, or `ofJournal`. */
  readonly epoch: number;
  /** The index among the parts of the epoch, from 0. Deltas that continue one another are one part. */
  readonly index: number;
  /** The number of characters (UTF-16 units) of a delta that were shown; 0 for another part. */
  readonly offset: number;
}

/** The epoch of parts that are made from the journal. Every process makes the same ones. */
export const ofJournal = -1;

/** A part as it was first shown. Of a delta, only the text after `place.offset`. */
export interface PlacedPart {
  readonly part: AskPart;
  readonly place: Omit<PartPlace, "turn">;
}

export interface LogReader {
  wake(): void;
}

/**
 * The parts of a turn, kept once for all readers. Deltas are joined, and beyond `partsMax` the oldest parts are
 * dropped; a reader gets `parts.dropped` in their place.
 */
export class TurnLog {
  readonly turn: number;
  #kept: KeptPart[] = [];
  /** The position of the first part that is kept, counted from the first part of the turn. */
  first = 0;
  /** The asks for which the turn started; null until that was shown. */
  askIds: readonly string[] | null = null;
  /** Whether the turn has ended, so that no more parts are shown. */
  hasEnded = false;
  #startedStep = 0;
  #endedStep = 0;
  #waiting: LogReader[] = [];
  /** The newest of the parts that were shown elsewhere and have arrived here, with its step. */
  #elsewhere: { readonly epoch: number; readonly index: number; readonly step: number } | null = null;
  /** The newest step that the journal gave first: parts of it from elsewhere repeat them. 0: none. */
  journalledStep = 0;

  constructor(turn: number) {
    this.turn = turn;
  }

  get end(): number {
    return this.first + this.#kept.length;
  }

  /** Returns whether the start of a step was shown, and is not void. */
  hasStartedStep(step: number): boolean {
    return step <= this.#startedStep;
  }

  /** Returns whether the end of a step was shown. */
  hasEndedStep(step: number): boolean {
    return step <= this.#endedStep;
  }

  /** Returns whether something was shown of the step in progress, and is not void. */
  hasShown(step: number): boolean {
    const last = this.#kept.at(-1)?.part;
    return last !== undefined && "step" in last && last.step === step && last.type !== "step.ended";
  }

  /** Returns whether a part is in the log that is shown when its entry is read. */
  has(part: AskPart): boolean {
    return this.#kept.some(({ part: kept }) => kept.type === part.type && canonicalText(kept) === canonicalText(part));
  }

  get characters(): number {
    return this.#kept.reduce((sum, { part, text }) => sum + 100 + sizeOf(part, text), 0);
  }

  get parts(): readonly AskPart[] {
    return this.#kept.map(({ part, text }) => (text === null ? part : withText(part, text)));
  }

  /** Appends a part that is shown now; nothing after the end. */
  append(epoch: number, part: AskPart): void {
    if (this.hasEnded) return;
    const last = this.#kept.at(-1);
    const text = textOfDelta(part);
    if (part.type === "output.partial") {
      // It belongs to the text that it is read from, and a newer one replaces an older one.
      if (last !== undefined) last.partial = Object.freeze(part);
      this.#wake();
    } else if (text !== null && last?.epoch === epoch && goesOnWith(last.part, part)) this.#extend(last, part, text);
    else {
      const newest = last === undefined || last.epoch === epoch ? last : this.#newestOf(epoch);
      this.#push(epoch, (newest?.index ?? -1) + 1, part, text);
    }
  }

  /** Appends a part from elsewhere, unless it is kept. Missing parts before it become `parts.dropped`. */
  appendShown({ part, place: { epoch, index, offset } }: PlacedPart): void {
    const before = this.#elsewhere;
    if (this.hasEnded || (before !== null && epoch < before.epoch)) return;
    const last = this.#newestOf(epoch);
    const newest = before?.epoch === epoch ? before.index : (last?.index ?? -1);
    if (index < newest) return;
    this.#elsewhere = { epoch, index, step: "step" in part ? part.step : (before?.step ?? 0) };
    if (this.isLate(part, this.#elsewhere.step)) return;
    if (last !== undefined && index === newest) {
      if (last.index === index) this.#continue(last, part, offset);
      return;
    }
    if (index > newest + 1) this.#push(epoch, index - 1, { type: "parts.dropped", count: index - newest - 1 });
    if (!isInJournal(part) || !this.has(part)) this.#push(epoch, index, part);
  }

  /** Returns whether the journal gave a part of that step first. The step's results may arrive either way. */
  isLate(part: AskPart, step: number): boolean {
    if (this.journalledStep === 0 || step > this.journalledStep) return false;
    return !followsReply.has(part.type) || this.#kept.some((kept) => isSamePart(kept.part, part));
  }

  /** Appends a part that is made from the journal, at that index; nothing after the end. */
  appendOfJournal(index: number, part: AskPart): void {
    if (!this.hasEnded) this.#push(ofJournal, index, part);
  }

  at(position: number): KeptPart | undefined {
    return this.#kept[position - this.first];
  }

  /** Returns the position of an epoch's newest part up to an index, or of its first part; null without any. */
  positionOf(epoch: number, index: number): number | null {
    const newest = this.#kept.findLastIndex((kept) => kept.epoch === epoch && kept.index <= index);
    const found = newest < 0 ? this.#kept.findIndex((kept) => kept.epoch === epoch) : newest;
    return found < 0 ? null : this.first + found;
  }

  wakeLater(reader: LogReader): void {
    this.#waiting.push(reader);
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    // Usually one reads, and is there again for the next part.
    if (this.#waiting.length === 1) return this.#waiting.pop()?.wake();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const reader of waiting) reader.wake();
  }

  #newestOf(epoch: number): KeptPart | undefined {
    return this.#kept.findLast((kept) => kept.epoch === epoch);
  }

  /** Appends the rest of a delta that was shown elsewhere. */
  #continue(last: KeptPart, part: AskPart, offset: number): void {
    const text = textOfDelta(part);
    if (text === null || last.text === null) return;
    const end = last.offset + last.text.length;
    const rest = end < offset ? "" : text.slice(end - offset);
    if (rest === "") return;
    if (last === this.#kept.at(-1)) this.#extend(last, withText(part, rest), rest);
    else this.#push(last.epoch, last.index, withText(part, rest), rest, end);
  }

  #extend(last: KeptPart, part: AskPart, text: string): void {
    last.part = Object.freeze(part);
    last.text = (last.text ?? "") + text;
    this.#wake();
  }

  #push(epoch: number, index: number, part: AskPart, text = textOfDelta(part), offset = 0): void {
    this.#kept.push({ epoch, index, offset, part: Object.freeze(part), text, partial: null });
    if (part.type === "turn.ended") this.hasEnded = true;
    else if (part.type === "turn.started") this.askIds = part.askIds;
    else if (part.type === "step.started") this.#startedStep = part.step;
    else if (part.type === "step.ended") this.#endedStep = part.step;
    else if (part.type === "thread.lost") this.#startedStep = this.#endedStep;
    if (this.#kept.length > partsMax) {
      // Many at once, so that not every new part moves the whole list.
      this.#kept = this.#kept.slice(partsMax / 2);
      this.first += partsMax / 2;
    }
    this.#wake();
  }
}

interface KeptPart {
  readonly epoch: number;
  readonly index: number;
  readonly offset: number;
  /** The part; of joined deltas the last one. */
  part: AskPart;
  /** The whole text of a delta; null for another part. */
  text: string | null;
  /** The output as far as it is written, for readers of the moment. */
  partial: AskPart | null;
}

/** The largest number of parts in a log. More than a turn of a few hundred tool calls makes. */
export const partsMax = 2048;

/** Returns whether a part is shown when its entry is read. */
export const isInJournal = (part: AskPart): boolean => {
  if (part.type !== "signal") return part.type === "turn.started" || part.type === "turn.ended";
  const { type } = part.signal;
  return type === "turn.interrupted" || type === "output.refused" || type.startsWith("ask.");
};

/** Returns whether a part continues the text of the one before it, so that the two can be shown as one. */
const goesOnWith = (last: AskPart, next: AskPart): boolean => {
  const isSame = "attempt" in last && "attempt" in next && last.step === next.step && last.attempt === next.attempt;
  return isSame && last.type === next.type && positionOf(last) === positionOf(next);
};

const positionOf = (part: AskPart): number | null => ("position" in part ? part.position : null);

/** Returns the text of a delta, which may grow; null for any other part. */
export const textOfDelta = (part: AskPart): string | null =>
  part.type === "toolCall.delta" ? part.arguments : "text" in part ? part.text : null;

/** Returns the same delta with another text. Any other part is returned unchanged. */
export const withText = (part: AskPart, text: string): AskPart => {
  if (textOfDelta(part) === text) return part;
  if (part.type === "toolCall.delta") return Object.freeze({ ...part, arguments: text });
  return "text" in part ? Object.freeze({ ...part, text }) : part;
};

const followsReply: ReadonlySet<AskPart["type"]> = new Set([
  "toolResult",
  "approval.requested",
  "result.requested",
  "step.ended",
]);

const isSamePart = (one: AskPart, other: AskPart): boolean => one.type === other.type && nameOf(one) === nameOf(other);

const nameOf = (part: AskPart): string | number | null => {
  if ("callId" in part) return part.callId;
  if (part.type === "approval.requested") return part.request.id;
  return "step" in part ? part.step : null;
};

/** Returns the approximate size of a part. The result of a tool is usually a text. */
const sizeOf = (part: AskPart, text: string | null): number => {
  if (text !== null) return text.length;
  if (part.type === "toolCall") return part.arguments.length;
  if (part.type !== "toolResult" || part.content === null) return 0;
  if (typeof part.content === "string") return part.content.length;
  return part.content.reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 1000), 0);
};

/**
 * The shown parts of turns of a host's threads, for asks that rejoin. It keeps each turn that is in progress here, and
 * the newest of those that ended or were released, for a limited time.
 */
export class TurnLogs {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #ofThreads = new Map<string, Map<number, TurnLog>>();
  /** Turns to which no parts are added, oldest first. */
  readonly #resting = new Map<TurnLog, Resting>();
  #characters = 0;

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** Returns the parts of a turn; undefined if none are kept. */
  of(threadId: string, turn: number): TurnLog | undefined {
    this.#forgetOld(this.#clock.now());
    return this.#ofThreads.get(threadId)?.get(turn);
  }

  /** Returns the parts of a turn to which more will be added here. */
  open(threadId: string, turn: number): TurnLog {
    const turns = this.#ofThreads.get(threadId) ?? new Map<number, TurnLog>();
    this.#ofThreads.set(threadId, turns);
    const parts = turns.get(turn) ?? new TurnLog(turn);
    turns.set(turn, parts);
    const resting = this.#resting.get(parts);
    if (resting !== undefined && this.#resting.delete(parts)) this.#characters -= resting.characters;
    return parts;
  }

  /** Marks a turn to which no more parts are added here for the time being. */
  rest(threadId: string, parts: TurnLog): void {
    if (this.#resting.has(parts)) return;
    const resting = { threadId, since: this.#clock.now(), characters: parts.characters };
    this.#resting.set(parts, resting);
    this.#characters += resting.characters;
    this.#forgetOld(resting.since);
  }

  /** Drops the parts of a thread whose words are deleted or redacted: none of them may be shown any more. */
  forget(threadId: string): void {
    for (const parts of this.#ofThreads.get(threadId)?.values() ?? []) this.#drop(parts);
    this.#ofThreads.delete(threadId);
  }

  /** Drops the parts of a deleted thread of the same id: one whose turn had none of these asks. Returns whether it did. */
  forgetEarlier(threadId: string, turn: number, askIds: readonly string[]): boolean {
    const shown = this.#ofThreads.get(threadId)?.get(turn)?.askIds ?? askIds;
    const isEarlier = shown.length > 0 && !shown.some((askId) => askIds.includes(askId));
    if (isEarlier) this.forget(threadId);
    return isEarlier;
  }

  #forgetOld(now: number): void {
    for (const [parts, { since }] of this.#resting) {
      if (since > now - this.#keepMs && this.#resting.size <= restingMost && this.#characters <= charactersMost) return;
      this.#drop(parts);
    }
  }

  #drop(parts: TurnLog): void {
    const resting = this.#resting.get(parts);
    if (resting === undefined) return;
    this.#resting.delete(parts);
    this.#characters -= resting.characters;
    const turns = this.#ofThreads.get(resting.threadId);
    if (turns?.get(parts.turn) === parts && turns.delete(parts.turn) && turns.size === 0)
      this.#ofThreads.delete(resting.threadId);
  }
}

interface Resting {
  readonly threadId: string;
  readonly since: number;
  readonly characters: number;
}

/** The largest number of ended turns that are kept in memory. Later readers are shown the parts of the journal. */
const restingMost = 256;

const charactersMost = 2 ** 22;

/** Keeps the parts that are shown of turns. */
export interface PartRecorder {
  /** Prepares the log of a turn that these asks started. */
  begin(turn: number, askIds: readonly string[]): void;
  record(turn: number, part: AskPart): void;
  /** Returns the log of a turn; null if none is kept here. */
  log(turn: number): TurnLog | null;
  /** The newest turn of which a part is kept; null if there is none. */
  readonly newest: number | null;
}

/** Writes the logs of the turns of a thread, one after the other, and into the store as well if there is a sink. */
export class TurnWriter implements PartRecorder {
  readonly #threadId: string;
  readonly #logs: TurnLogs;
  readonly #epoch: number;
  readonly #sink: { added(log: TurnLog): void } | null;
  /** The log of the turn that was shown last. */
  #log: TurnLog | null = null;

  /** @param epoch the token of the lease */
  constructor(threadId: string, logs: TurnLogs, epoch: number, sink: { added(log: TurnLog): void } | null) {
    this.#threadId = threadId;
    this.#logs = logs;
    this.#epoch = epoch;
    this.#sink = sink;
  }

  get newest(): number | null {
    return this.#log?.turn ?? null;
  }

  begin(turn: number, askIds: readonly string[]): void {
    if (this.#logs.forgetEarlier(this.#threadId, turn, askIds)) this.#log = null;
  }

  record(turn: number, part: AskPart): void {
    const log = this.log(turn);
    log.append(this.#epoch, part);
    // The text has the partial output already.
    if (part.type !== "output.partial") this.#sink?.added(log);
    if (part.type === "turn.ended") this.#logs.rest(this.#threadId, log);
  }

  log(turn: number): TurnLog {
    if (this.#log?.turn === turn) return this.#log;
    this.end();
    return (this.#log = this.#logs.open(this.#threadId, turn));
  }

  /** Adds no more for now. An idle thread needs no log of a turn that has ended: each would take some kB. */
  end(): void {
    if (this.#log === null) return;
    this.#logs.rest(this.#threadId, this.#log);
    if (this.#log.hasEnded) this.#log = null;
  }
}
