import type { Chunks } from "./chunks.ts";
import type { Message } from "./message.ts";
import type { Turn } from "./turn.ts";

/**
 * The conversation's messages. Closed turns form a tree by their parents; the conversation is the path from the
 * beginning to `head`. Moving the head loses nothing: every turn stays, and keeps its number.
 */
export interface Thread {
  readonly system: Message | null;
  /** The number of system messages ever set; their ids are derived from it. */
  readonly systems: number;
  /** The system message that the thread began with. */
  readonly firstSystem: Message | null;
  /** The messages before the first turn. */
  readonly seed: readonly Message[];
  /** Closed turns: turn `n` at index `n - 1`. */
  readonly turns: Chunks<Turn>;
  /** The newest turn in force; 0 for the beginning. */
  readonly head: number;
  /** Messages appended since the last turn ended. They lead the next turn. */
  readonly appended: readonly Message[];
  /**
   * The length of their texts, so that appending does not measure all of them again; absent if there are none. Unit:
   * UTF-16 units.
   */
  readonly appendedCharacters?: number;
  /** Pinned messages, which every prompt shows whole while they are on the path; oldest pin first. */
  readonly pins: readonly Pin[];
  /** The numbers of characters by which turns, other than the newest, were shortened after they ended. */
  readonly shortened: readonly { readonly turn: number; readonly characters: number }[];
  /** The heads that have names. */
  readonly checkpoints: { readonly [name: string]: number };
}

/** A message that is pinned. */
export interface Pin {
  /** Its turn; 0 for the seed. */
  readonly turn: number;
  readonly message: string;
}
