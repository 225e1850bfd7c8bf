import type { Clock } from "@colloquy/host";
import { LegLog } from "./leg-log.ts";
import type { LegKeeper, RunningTurn } from "./running-turn.ts";

/** Limits on the logs of ended legs. */
export interface LogBounds {
  readonly keepMs: number;
  /** The size of all logs, in UTF-16 units. */
  readonly charactersMax: number;
}

/**
 * The turns that this process shows, and the logs of their legs: one log for each leg, however many clients read it.
 */
export class RunningTurns implements LegKeeper {
  readonly #turns = new Map<string, RunningTurn>();
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  #characters = 0;

  constructor(clock: Clock, bounds: LogBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  now(): number {
    return this.#clock.now();
  }

  of(threadId: string, turn: number): RunningTurn | undefined {
    return this.#turns.get(keyOf(threadId, turn));
  }

  add(turn: RunningTurn): void {
    this.#turns.set(keyOf(turn.thread.id, turn.number), turn);
  }

  log(): LegLog {
    return new LegLog((characters) => this.#grow(characters));
  }

  /** Drops a leg after `keepMs`. */
  keep(turn: RunningTurn, leg: number): void {
    this.#clock.wakeAt(this.#clock.now() + this.#bounds.keepMs, () => this.#forget(turn, leg));
  }

  /** Drops the logs of a turn. */
  forgetTurn(threadId: string, number: number): void {
    const turn = this.of(threadId, number);
    for (const leg of turn?.legs.keys() ?? []) if (turn !== undefined) this.#forget(turn, leg);
  }

  /** Drops the logs of a thread. */
  forgetThread(threadId: string): void {
    for (const { thread, number } of this.#turns.values())
      if (thread.id === threadId) this.forgetTurn(threadId, number);
  }

  /** Drops a turn that has no log here any more. */
  drop(turn: RunningTurn): void {
    if (this.of(turn.thread.id, turn.number) === turn) this.#turns.delete(keyOf(turn.thread.id, turn.number));
  }

  #forget(turn: RunningTurn, leg: number): void {
    const shown = turn.legs.get(leg);
    if (shown === undefined) return;
    turn.legs.delete(leg);
    shown.log.lose();
    if (turn.legs.size === 0 && !turn.isFollowed) this.drop(turn);
  }

  /**
   * Counts new characters and frees space when there are too many. Ended logs go first, oldest first. Then running logs
   * are trimmed, and lost only if that is not enough.
   */
  #grow(characters: number): void {
    this.#characters += characters;
    if (characters <= 0) return;
    for (const turn of this.#turns.values()) {
      if (this.#characters <= this.#bounds.charactersMax) return;
      for (const [leg, { log }] of turn.legs) if (log.isEnded) this.#forget(turn, leg);
    }
    for (const { legs } of this.#turns.values()) {
      if (this.#characters <= this.#bounds.charactersMax) return;
      for (const { log } of legs.values()) log.trim();
    }
    for (const { legs } of this.#turns.values()) {
      if (this.#characters <= this.#bounds.charactersMax) return;
      for (const { log } of legs.values()) log.lose();
    }
  }
}

const keyOf = (threadId: string, turn: number): string => `${turn}/${threadId}`;
