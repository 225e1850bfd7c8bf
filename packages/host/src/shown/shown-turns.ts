import type { Clock } from "../ports/clock.ts";
import { TurnParts } from "./turn-parts.ts";

/**
 * What was shown of the turns of a host's threads, for those who rejoin them: of each turn that is under way here, and of those
 * that ended or were let go, the newest, for a bounded time.
 */
export class ShownTurns {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #ofThreads = new Map<string, Map<number, TurnParts>>();
  /** Turns that nothing is added to, oldest first. */
  readonly #resting = new Map<TurnParts, Resting>();
  #characters = 0;

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** What was shown of a turn; undefined where nothing is kept. */
  of(threadId: string, turn: number): TurnParts | undefined {
    this.#forgetOld();
    return this.#ofThreads.get(threadId)?.get(turn);
  }

  /** The same for a turn of which more is shown here. */
  open(threadId: string, turn: number): TurnParts {
    const turns = this.#ofThreads.get(threadId) ?? new Map<number, TurnParts>();
    this.#ofThreads.set(threadId, turns);
    const parts = turns.get(turn) ?? new TurnParts(turn);
    turns.set(turn, parts);
    const resting = this.#resting.get(parts);
    if (resting !== undefined && this.#resting.delete(parts)) this.#characters -= resting.characters;
    return parts;
  }

  /** Nothing more is shown of it here, for the time being. */
  rest(threadId: string, parts: TurnParts): void {
    if (this.#resting.has(parts)) return;
    const { characters } = parts;
    this.#resting.set(parts, { threadId, since: this.#clock.now(), characters });
    this.#characters += characters;
    this.#forgetOld();
  }

  /** The words of a thread are deleted or redacted: nothing of them may be shown any more. */
  forget(threadId: string): void {
    for (const parts of this.#ofThreads.get(threadId)?.values() ?? []) this.#drop(parts);
    this.#ofThreads.delete(threadId);
  }

  #forgetOld(): void {
    const oldest = this.#clock.now() - this.#keepMs;
    for (const [parts, { since }] of this.#resting) {
      if (since > oldest && this.#resting.size <= restingMost && this.#characters <= charactersMost) return;
      this.#drop(parts);
    }
  }

  #drop(parts: TurnParts): void {
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
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly characters: number;
}

/** Turns that ended and are kept in memory. Whoever comes later is shown what the journal has. */
const restingMost = 256;

const charactersMost = 2 ** 22;
