import type { Chunks } from "./chunks.ts";
import type { Message } from "./message.ts";
import type { Turn } from "./turn.ts";

/**
 * What was said. Closed turns form a tree by their parents; the conversation is the path from the beginning
 * to `head`. Moving the head loses nothing: every turn stays, and its number stays its own.
 */
export interface Thread {
  readonly system: Message | null;
  /** How many system messages there ever were, from which they have their ids. */
  readonly systems: number;
  /** The system message that it began with. */
  readonly firstSystem: Message | null;
  /** What stood before the first turn. */
  readonly seed: readonly Message[];
  /** Closed turns: turn `n` at index `n - 1`. */
  readonly turns: Chunks<Turn>;
  /** The newest turn in force; 0 for the beginning. */
  readonly head: number;
  /** Appended since the last turn ended: they lead the next one. */
  readonly appended: readonly Message[];
  /**
   * How long their texts are, so that one more message costs one look. Absent where there are none, and in what 0.1 stored.
   * Unit: UTF-16 units.
   */
  readonly appendedCharacters?: number;
  /** Messages that every prompt shows whole while they are on the path, oldest pin first. */
  readonly pins: readonly Pin[];
  /** By how much turns, other than the newest, were shortened since they ended. */
  readonly shortened: readonly { readonly turn: number; readonly characters: number }[];
  /** Heads with names. */
  readonly checkpoints: { readonly [name: string]: number };
}

/** A message that is pinned. */
export interface Pin {
  /** Its turn; 0 for the seed. */
  readonly turn: number;
  readonly message: string;
}
