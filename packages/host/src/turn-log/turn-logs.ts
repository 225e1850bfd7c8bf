import type { Clock } from "../ports/clock.ts";
import { TurnLog } from "./log.ts";

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
    const { characters } = parts;
    const since = this.#clock.now();
    this.#resting.set(parts, { threadId, since, characters });
    this.#characters += characters;
    this.#forgetOld(since);
  }

  /** Drops the parts of a thread whose words are deleted or redacted: none of them may be shown any more. */
  forget(threadId: string): void {
    for (const parts of this.#ofThreads.get(threadId)?.values() ?? []) this.#drop(parts);
    this.#ofThreads.delete(threadId);
  }

  #forgetOld(now: number): void {
    const oldest = now - this.#keepMs;
    for (const [parts, { since }] of this.#resting) {
      if (since > oldest && this.#resting.size <= restingMost && this.#characters <= charactersMost) return;
      this.#drop(parts);
    }
  }

  #drop(parts: TurnLog): void {
    const resting = this.#resting.get(parts);
    if (resting === undefined) return;
    this.#resting.delete(parts);
    this.#characters -= resting.characters;
    const turns = this.#ofThreads.get(resting.threadId);
    if (turns?.delete(parts.turn) === true && turns.size === 0) this.#ofThreads.delete(resting.threadId);
  }
}

interface Resting {
  readonly threadId: string;
  /** The start of the rest, in milliseconds since the epoch. */
  readonly since: number;
  readonly characters: number;
}

/** The largest number of ended turns that are kept in memory. Later readers are shown the parts of the journal. */
const restingMost = 256;

const charactersMost = 2 ** 22;
