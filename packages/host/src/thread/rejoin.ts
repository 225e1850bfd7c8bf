import { askNamed, type AskStatus, type Refusal, type State, type Turn, turnNumbered } from "@colloquy/machine";
import { loadMessages } from "@colloquy/machine/storage";
import type { AskHandle } from "../ask/ask-handle.ts";
import { EarlierAsk } from "../ask/earlier-ask.ts";
import { AskRefusedError } from "../boundary/errors.ts";
import { kinds, type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";
import { placeOf, HandleCursor } from "../turn-log/cursor.ts";
import { type PartPlace, TurnLog } from "../turn-log/log.ts";
import type { AskPart } from "../turn-log/parts.ts";
import { agrees, completeLog, replayOf } from "../turn-log/replay.ts";
import { StoredParts } from "../turn-log/sink.ts";
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

/** Reads the log of its turn from a cursor on. When the turn has ended, its journal completes the log. */
class RejoinedAsk extends EarlierAsk {
  readonly #thread: ThreadRef;
  readonly #from: PartPlace | null;
  /** The turn that has ended, with its parts as the journal has them. */
  #ended: { readonly turn: number; readonly whole: readonly AskPart[] } | null = null;
  #whole: Promise<void> | null = null;
  #hasReadWhole = false;
  #hasBegun = false;

  constructor(thread: ThreadRef, askId: string, from: PartPlace | null) {
    super(thread.id, askId, meansOfEarlier(thread), false, new HandleCursor(false, from));
    this.#thread = thread;
    this.#from = from;
  }

  override join(turn: number): void {
    this.#check(turn);
    super.join(turn, false);
  }

  override ended(turn: Turn): void {
    this.#check(turn.number);
    this.#ended ??= { turn: turn.number, whole: replayOf(turn) };
    super.ended(turn);
  }

  protected override async nextPart(): Promise<IteratorResult<AskPart, undefined>> {
    const next = await super.nextPart();
    if (next.done === true && this.#ended !== null && !this.#hasReadWhole) {
      const { turn, whole } = this.#ended;
      await (this.#whole ??= this.#readWhole(turn, whole)).finally(() => (this.#hasReadWhole = true));
      return super.nextPart();
    }
    this.#hasReadWhole ||= next.value?.type === "turn.ended";
    return next;
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

  /** Reads all parts of an ended turn: those that were shown and agree with the journal, and the rest. */
  async #readWhole(turn: number, whole: readonly AskPart[]): Promise<void> {
    const { partLogging, logs } = this.#thread.host;
    if (whole[0]?.type === "turn.started") logs.forgetEarlier(this.threadId, turn, whole[0].askIds);
    if (partLogging !== null && logs.of(this.threadId, turn)?.hasEnded !== true) {
      const stored = new StoredParts(this.threadId, partLogging, logs);
      await stored.read(turn);
      stored.end();
    }
    const kept = logs.of(this.threadId, turn);
    const log = kept !== undefined && agrees(kept.parts, whole) ? kept : new TurnLog(turn);
    completeLog(log, whole);
    this.parts.follow(log, "first");
  }

  /** Ends the parts if the cursor is one of another turn. */
  #check(turn: number): void {
    if (this.#from === null || this.#from.turn === turn) return;
    this.#hasReadWhole = true;
    const reason = `rejoin: from is a cursor of turn ${this.#from.turn}, and turn ${turn} answers the ask; leave it out, or give one of this ask`;
    const refusal: Refusal = { kind: "invalid", reason };
    this.parts.end(new AskRefusedError(this.threadId, this.askId, refusal));
  }
}

const isUnderWay: ReadonlySet<string> = new Set(["queued", "joining", "open"] satisfies readonly AskStatus[]);
