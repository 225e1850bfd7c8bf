import { goesOnWith, textOfDelta, withText } from "../ask/joined-parts.ts";
import { ofJournal, type PartPlace } from "../ask/part-place.ts";
import { partsMax } from "../ask/part-queue.ts";
import type { AskPart } from "../ask/parts.ts";

/** A part and the place after it. */
export interface PlacedPart {
  readonly part: AskPart;
  readonly place: PartPlace;
}

/** A part as it was first shown. Of a delta, only the text after `place.offset`. */
export interface ShownPart {
  readonly part: AskPart;
  readonly place: Omit<PartPlace, "turn">;
}

/**
 * The shown parts of a turn, kept once for all readers. Deltas are joined, and beyond `partsMax` the oldest parts are
 * dropped; a reader gets `parts.dropped` in their place.
 */
export class TurnParts {
  readonly turn: number;
  #kept: KeptPart[] = [];
  /** How many parts were dropped: the position of the first that is kept. */
  #letGo = 0;
  #hasEnded = false;
  #startedStep = 0;
  #endedStep = 0;
  /** The newest of the parts that were shown elsewhere and have arrived here, with its step. */
  #elsewhere = { epoch: -1, index: -1, step: 0 };
  /**
   * The newest step whose parts the journal gave first. Parts of it that arrive from elsewhere later repeat them. 0:
   * none.
   */
  journalledStep = 0;

  constructor(turn: number) {
    this.turn = turn;
  }

  /** Whether the turn has ended, so that no more parts are shown. */
  get hasEnded(): boolean {
    return this.#hasEnded;
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

  /** The approximate size in characters. */
  get characters(): number {
    return this.#kept.reduce((sum, { part, text }) => sum + 100 + sizeOf(part, text), 0);
  }

  /** The parts that are kept, with all of their text. */
  get parts(): readonly AskPart[] {
    return this.#kept.map(({ part, text }) => wholePart(part, text));
  }

  /** Keeps a part that is shown now. */
  add(epoch: number, part: AskPart): PartPlace {
    const last = this.#kept.at(-1);
    if (last?.epoch === epoch && goesOnWith(last.part, part)) return this.#extend(last, part, textOfDelta(part) ?? "");
    const newest = last?.epoch === epoch ? last : this.#newestOf(epoch);
    return this.#push(epoch, (newest?.index ?? -1) + 1, part);
  }

  /**
   * Keeps a part that was shown elsewhere, unless it is kept already. If parts before it are missing, readers get
   * `parts.dropped` in their place.
   */
  addShown({ part, place: { epoch, index, offset } }: ShownPart): void {
    const before = this.#elsewhere;
    if (this.#hasEnded || epoch < before.epoch) return;
    const last = epoch === before.epoch ? this.#kept.at(-1) : this.#newestOf(epoch);
    const newest = epoch === before.epoch ? before.index : (last?.index ?? -1);
    if (index < newest) return;
    this.#elsewhere = { epoch, index, step: "step" in part ? part.step : before.step };
    if (this.isLate(part, this.#elsewhere.step)) return;
    if (last !== undefined && index === newest) {
      const text = last.epoch === epoch && last.index === index ? textOfDelta(part) : null;
      const missing = last.text === null ? 0 : last.text.length - offset;
      if (text !== null && missing >= 0 && text.length > missing) this.#extend(last, part, text.slice(missing));
      return;
    }
    if (index > newest + 1) this.#push(epoch, index - 1, { type: "parts.dropped", count: index - newest - 1 });
    this.#push(epoch, index, part);
  }

  /** Returns whether the journal gave a part of that step first. The step's results may arrive either way. */
  isLate(part: AskPart, step: number): boolean {
    if (this.journalledStep === 0 || step > this.journalledStep) return false;
    return !followsReply.has(part.type) || this.#kept.some((kept) => isSamePart(kept.part, part));
  }

  /** Keeps a part that is made from the journal, at that index. Returns its place; null if the turn has ended. */
  addOfJournal(index: number, part: AskPart): PartPlace | null {
    return this.#hasEnded ? null : this.#push(ofJournal, index, part);
  }

  /** Returns a reader from the first part on. */
  read(): PartsReader {
    return new PartsReader(this, -1, null);
  }

  /** Returns a reader from the newest part on. */
  readNew(): PartsReader {
    return new PartsReader(this, this.#letGo + this.#kept.length - 2, null);
  }

  /** Returns a reader from the parts after a place; null if no part of its epoch is kept. */
  readBehind(place: PartPlace): PartsReader | null {
    const { epoch, index } = place;
    const first = this.#kept.findIndex((kept) => kept.epoch === epoch);
    if (first < 0) return null;
    const found = this.#kept.findLastIndex((kept) => kept.epoch === epoch && kept.index <= index);
    if (found >= 0) return new PartsReader(this, this.#letGo + found - 1, place);
    const missed = (this.#kept[first]?.index ?? 0) - index - 1;
    return new PartsReader(this, this.#letGo + first - 1, place, missed);
  }

  /** Returns the part at a position, counted from the first part of the turn. */
  at(position: number): KeptPart | undefined {
    return this.#kept[position - this.#letGo];
  }

  /** The position of the first part that is kept. */
  get first(): number {
    return this.#letGo;
  }

  #newestOf(epoch: number): KeptPart | undefined {
    return this.#kept.findLast((kept) => kept.epoch === epoch);
  }

  #extend(last: KeptPart, part: AskPart, text: string): PartPlace {
    last.part = part;
    last.text = (last.text ?? "") + text;
    return { turn: this.turn, epoch: last.epoch, index: last.index, offset: last.text.length };
  }

  #push(epoch: number, index: number, part: AskPart): PartPlace {
    const text = textOfDelta(part);
    const { turn } = this;
    const kept = { turn, epoch, index, offset: 0, part: Object.freeze(part), text };
    this.#kept.push(kept);
    if (part.type === "turn.ended") this.#hasEnded = true;
    else if (part.type === "step.started") this.#startedStep = part.step;
    else if (part.type === "step.ended") this.#endedStep = part.step;
    else if (part.type === "thread.lost") this.#startedStep = this.#endedStep;
    if (this.#kept.length > partsMax) {
      this.#kept = this.#kept.slice(partsMax / 2);
      this.#letGo += partsMax / 2;
    }
    return text === null ? kept : { turn, epoch, index, offset: text.length };
  }
}

/** Parts that may follow the reply of a step. */
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

/** A part, and the place before it. For a part without a text that is also the place after it. */
interface KeptPart extends PartPlace {
  /** The part; of joined deltas the last one. */
  part: AskPart;
  /** The whole text of a delta; null for another part. */
  text: string | null;
}

/** Reads the parts of a turn at its own pace, each once. Text that arrives meanwhile is read as one part. */
export class PartsReader {
  readonly #parts: TurnParts;
  /** The position of the part that was read last. */
  #at: number;
  /** How much of that part's text was read. */
  #offset = Infinity;
  /** The place after which it reads. Parts before it in its epoch are skipped, even if they are kept after it. */
  #behind: PartPlace | null;
  /** Whether that place was passed: the following parts were not read. */
  #isPassed = false;
  /** How many parts are missing before the next one. */
  #missing: number;

  constructor(parts: TurnParts, at: number, behind: PartPlace | null, missing = 0) {
    this.#parts = parts;
    this.#at = at;
    this.#behind = behind;
    this.#missing = missing;
  }

  /** Returns the next part; null while there is none. */
  next(): PlacedPart | null {
    const piece = this.nextPiece();
    if (piece === null) return null;
    const { epoch, index, offset } = piece.place;
    const behind = offset + (textOfDelta(piece.part)?.length ?? 0);
    return { part: piece.part, place: { turn: this.#parts.turn, epoch, index, offset: behind } };
  }

  /** Returns the next part with the place before it. */
  nextPiece(): ShownPart | null {
    for (let piece = this.#nextKept(); piece !== null; piece = this.#nextKept()) {
      if (this.#isBeside(piece)) return this.#anew();
      const unread = this.#unreadOf(piece);
      if (unread !== null) return unread;
    }
    return null;
  }

  #nextKept(): ShownPart | null {
    const { first } = this.#parts;
    if (this.#missing > 0 || this.#at < first - 1) return this.#missed(first);
    const last = this.#parts.at(this.#at);
    if (last?.text != null && last.text.length > this.#offset) return this.#piece(last);
    const next = this.#parts.at(this.#at + 1);
    if (next === undefined) return null;
    this.#at++;
    this.#offset = 0;
    return this.#piece(next);
  }

  /** Returns whether a part is of another epoch than the place, although the reader has not reached the place yet. */
  #isBeside({ part, place: { epoch, index, offset } }: ShownPart): boolean {
    const behind = this.#behind;
    if (behind === null || this.#isPassed || part.type === "parts.dropped") return false;
    if (epoch !== behind.epoch) return true;
    const end = offset + (textOfDelta(part)?.length ?? 0);
    this.#isPassed = index > behind.index || (index === behind.index && end >= behind.offset);
    return false;
  }

  /** Restarts the reading from the first part. */
  #anew(): ShownPart {
    this.#behind = null;
    this.#at = this.#parts.first - 1;
    this.#offset = Infinity;
    const part = { type: "replay.started", turn: this.#parts.turn, step: 1, synthesised: false } as const;
    return { part: Object.freeze(part), place: { epoch: ofJournal, index: 0, offset: 0 } };
  }

  #unreadOf(piece: ShownPart): ShownPart | null {
    const behind = this.#behind;
    const { part, place } = piece;
    if (behind === null || place.epoch !== behind.epoch || place.index > behind.index) return piece;
    const text = textOfDelta(part);
    const read = behind.offset - place.offset;
    if (place.index < behind.index || text === null || read >= text.length) return null;
    return read <= 0 ? piece : { part: withText(part, text.slice(read)), place: { ...place, offset: behind.offset } };
  }

  #piece({ part, text, epoch, index }: KeptPart): ShownPart {
    const offset = this.#offset;
    this.#offset = text?.length ?? 0;
    return { part: wholePart(part, text === null ? null : text.slice(offset)), place: { epoch, index, offset } };
  }

  /** Returns the number of parts before the next one that were dropped unread. */
  #missed(first: number): ShownPart {
    const count = Math.max(this.#missing, first - 1 - this.#at);
    this.#missing = 0;
    this.#at = Math.max(this.#at, first - 1);
    this.#offset = Infinity;
    const { epoch, index } = this.#parts.at(this.#at + 1) ?? { epoch: 0, index: 0 };
    return { part: Object.freeze({ type: "parts.dropped", count }), place: { epoch, index: index - 1, offset: 0 } };
  }
}

const wholePart = (part: AskPart, text: string | null): AskPart =>
  text === null || text === textOfDelta(part) ? part : withText(part, text);

/** Returns the approximate size of a part. The result of a tool is usually a text. */
const sizeOf = (part: AskPart, text: string | null): number => {
  if (text !== null) return text.length;
  if (part.type === "toolCall") return part.arguments.length;
  if (part.type !== "toolResult" || part.content === null) return 0;
  if (typeof part.content === "string") return part.content.length;
  return part.content.reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 1000), 0);
};
