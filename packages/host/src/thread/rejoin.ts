import { askNamed, type AskStatus, type Refusal, type State, type Turn, turnNumbered } from "@colloquy/machine";
import { loadMessages } from "@colloquy/machine/storage";
import type { AskHandle } from "../ask/ask-handle.ts";
import { EarlierAsk } from "../ask/earlier-ask.ts";
import { cursorAt, type PartPlace, placeOf } from "../ask/part-place.ts";
import type { AskPart } from "../ask/parts.ts";
import { AskRefusedError } from "../boundary/errors.ts";
import { kinds, type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";
import { completeShown, PartLogReader } from "../delegation/known-parts.ts";
import { agrees, replayOf } from "../shown/replay.ts";
import { type PartsReader, type PlacedPart, TurnParts } from "../shown/turn-parts.ts";
import { meansOfEarlier, refusedAsk } from "./asking.ts";
import { look, type ThreadRef } from "./thread-ref.ts";

/** The options of a rejoin. */
export interface RejoinOptions {
  /**
   * The `cursor` of a handle to the ask: only parts after it are shown. Null (as of a handle that was not read) or
   * absent: all parts.
   */
  readonly from?: string | null;
}

/** Returns a handle to an ask that was made before, with the parts that were already shown. */
export const rejoin = (thread: ThreadRef, askId: string, options: RejoinOptions): AskHandle => {
  const problem = kinds.text.fits(askId)
    ? problemOfOptions("rejoin", options, rejoinOptionKinds)
    : "rejoin: askId must be a text that is not empty";
  if (problem !== null) return refusedAsk(thread.id, thread.host.ids, { askId }, problem);
  return new RejoinedAsk(thread, askId, options.from == null ? null : placeOf(options.from));
};

const rejoinOptionKinds: OptionKinds<RejoinOptions> = {
  from: kinds.word(
    "the cursor of a handle to this ask",
    (from) => from === null || (typeof from === "string" && placeOf(from) !== null),
  ),
};

/** Reads the parts of its turn from where they are kept, at its own pace. The loop of the thread only wakes it. */
class RejoinedAsk extends EarlierAsk {
  readonly #thread: ThreadRef;
  readonly #from: PartPlace | null;
  /** Parts that are kept nowhere: parts for this ask alone, or of a thread without a log of parts on this host. */
  readonly #unkept: AskPart[] = [];
  /** The turn that has ended, with its parts as the journal has them. */
  #ended: Ended | null = null;
  #whole: TurnParts | null = null;
  #error: Error | null = null;
  #place: PartPlace | null;
  #hasBegun = false;
  #news: PromiseWithResolvers<void> | null = null;
  #reading: AsyncGenerator<AskPart, undefined> | null = null;

  constructor(thread: ThreadRef, askId: string, from: PartPlace | null) {
    const { stop, find } = meansOfEarlier(thread);
    super(thread.id, askId, stop, find, false);
    this.#thread = thread;
    this.#from = from;
    this.#place = from;
  }

  override get cursor(): string | null {
    return this.#place === null ? null : cursorAt(this.#place);
  }

  override push(part: AskPart, place: PartPlace | null = null): void {
    if (place === null && !this.#isKept) this.#unkept.push(part);
    this.#wake();
  }

  override join(turn: number): void {
    super.join(turn);
    this.#wake();
  }

  override ended(turn: Turn, place?: PartPlace | null): void {
    this.#ended ??= { turn: turn.number, whole: replayOf(turn) };
    super.ended(turn, place);
    this.#wake();
  }

  override fail(error: Error): void {
    if (!this.settled) this.#error = error;
    super.fail(error);
    this.#wake();
  }

  override [Symbol.asyncIterator](): AsyncIterator<AskPart, undefined> {
    this.#reading ??= this.#read();
    const reading = this.#reading;
    return { next: () => reading.next() };
  }

  /** Looks up the ask in an idle thread first: an ask that has ended takes no lease. */
  protected override awaited(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    void this.#begin();
  }

  async #begin(): Promise<void> {
    try {
      const isSettled = await look(this.#thread, (state) => this.#settleBy(state));
      if (isSettled !== true) super.awaited();
    } catch (thrown) {
      this.fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  #settleBy(state: State): boolean {
    const known = askNamed(state, this.askId);
    if (known === null || isUnderWay.has(known.status)) return false;
    const turn = known.turn === null ? undefined : turnNumbered(state, known.turn);
    if (turn === undefined) return this.isKnownTo(state);
    this.ended(loadMessages(turn));
    return true;
  }

  /** Whether the parts of its turn are kept, here or by the host that shows them. */
  get #isKept(): boolean {
    const { turn } = this;
    const { partLogging, shown } = this.#thread.host;
    return turn !== null && (partLogging !== null || shown.of(this.threadId, turn) !== undefined);
  }

  async *#read(): AsyncGenerator<AskPart, undefined> {
    this.awaited();
    let kept: TurnParts | null = null;
    let reader: PartsReader | null = null;
    for (;;) {
      // Before any part is read, so that none is missed.
      const news = this.#someNews();
      const own = this.#unkept.shift();
      if (own !== undefined) {
        yield own;
        continue;
      }
      const next = reader?.next() ?? null;
      if (next !== null) {
        yield this.#shown(next);
        if (next.part.type === "turn.ended") return undefined;
        continue;
      }
      const isWhole = this.#whole !== null;
      const found = await this.#find(kept);
      if (found === null) await news;
      else if (found !== kept) {
        kept = found;
        reader = this.#place === null ? found.read() : found.readBehind(this.#place);
        if (reader === null && !beginsAnew(found)) yield anew(found.turn);
        reader ??= found.read();
      } else if (isWhole) return undefined;
    }
  }

  /** Returns the next parts to read, after those that were read so far; null if there are none yet. */
  async #find(kept: TurnParts | null): Promise<TurnParts | null> {
    const turn = this.#ended?.turn ?? this.turn;
    if (turn !== null && this.#from !== null && this.#from.turn !== turn) throw this.#refusal(turn, this.#from);
    if (this.#ended !== null) return (this.#whole ??= await this.#wholeOf(this.#ended));
    if (this.#error !== null) throw this.#error;
    const shown = turn === null ? undefined : this.#thread.host.shown.of(this.threadId, turn);
    return shown === undefined || shown === kept ? null : shown;
  }

  /**
   * Returns all parts of a turn that has ended: the parts that were shown, as far as they are kept and agree with the
   * journal, and the rest.
   */
  async #wholeOf({ turn, whole }: Ended): Promise<TurnParts> {
    const { host } = this.#thread;
    if (host.shown.of(this.threadId, turn)?.hasEnded !== true) {
      const log = new PartLogReader(host, this.threadId);
      await log.read(turn);
      log.end();
    }
    const shown = host.shown.of(this.threadId, turn);
    const parts = shown !== undefined && agrees(shown.parts, whole) ? shown : new TurnParts(turn);
    completeShown(parts, whole);
    return parts;
  }

  #shown({ part, place }: PlacedPart): AskPart {
    this.#place = place;
    return part;
  }

  #refusal(turn: number, { turn: given }: PartPlace): AskRefusedError {
    const reason = `rejoin: from is a cursor of turn ${given}, and turn ${turn} answers the ask; leave it out, or give one of this ask`;
    const refusal: Refusal = { kind: "invalid", reason };
    return new AskRefusedError(this.threadId, this.askId, refusal);
  }

  #someNews(): Promise<void> {
    this.#news ??= Promise.withResolvers();
    return this.#news.promise;
  }

  #wake(): void {
    this.#news?.resolve();
    this.#news = null;
  }
}

/** A turn that has ended, with its parts as the journal has them. */
interface Ended {
  readonly turn: number;
  readonly whole: readonly AskPart[];
}

const isUnderWay: ReadonlySet<string> = new Set(["queued", "joining", "open"] satisfies readonly AskStatus[]);

const anew = (turn: number): AskPart => Object.freeze({ type: "replay.started", turn, step: 1, synthesised: false });

const beginsAnew = ({ parts }: TurnParts): boolean => parts[0]?.type === "replay.started";
