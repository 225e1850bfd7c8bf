// A thread: its turns form a tree, and the conversation is the path from the beginning to the head.
import { at, chunkAt, chunkSize, type Chunks, extended, replaceAt, toArray } from "./chunks.ts";
import { type Message, toolResultOf } from "./message.ts";
import type { Turn, TurnPlace } from "./turn.ts";

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

/** Returns a closed turn by its number, on the path or off it; undefined if there is none. */
export const turnOf = (thread: Thread, number: number): Turn | undefined => at(thread.turns, number - 1);

/** Returns the thread with a turn replaced; the same thread if there is no turn of that number. */
export const changeTurn = (thread: Thread, number: number, change: (turn: Turn) => Turn): Thread => {
  const turn = turnOf(thread, number);
  return turn === undefined ? thread : { ...thread, turns: replaceAt(thread.turns, number - 1, change(turn)) };
};

/** Returns the closed turns on the path, newest first. Turns are read only as far as the caller iterates. */
export const turnsNewestFirst = (thread: Thread): Iterable<Turn> => new TurnsNewestFirst(thread);

/** A walk from the head towards the beginning, which can skip whole chunks of turns. */
export class PathWalk {
  /** The current turn; undefined at the beginning. */
  turn: Turn | undefined;
  readonly #turns: Chunks<Turn>;
  /** The turns that are stored with the current one. */
  #run: readonly Turn[] = [];
  /** The number of the first of them. */
  runFrom = 0;

  constructor({ turns, head }: Thread) {
    this.#turns = turns;
    this.#goTo(head);
  }

  /** Whether the walk is at the last turn of a full chunk. */
  get isAtEnd(): boolean {
    return this.turn?.number === this.runFrom + chunkSize - 1;
  }

  /**
   * Returns the turns of the current chunk if those up to the current one are on the path. The list of a full chunk is
   * the same object as long as the turns are unchanged.
   */
  straightRun(): readonly Turn[] | undefined {
    return (this.turn?.place.straightFrom ?? Infinity) <= this.runFrom ? this.#run : undefined;
  }

  step(): void {
    if (this.turn !== undefined) this.#goTo(this.turn.parent);
  }

  /** Steps to the parent of one of the turns in the chunk. */
  leave(index: number): void {
    this.turn = this.#run[index];
    this.step();
  }

  #goTo(number: number): void {
    this.turn = this.#run[number - this.runFrom];
    if (this.turn !== undefined || number === 0) return;
    const index = number - 1;
    this.#run = chunkAt(this.#turns, index) ?? [];
    this.runFrom = number - (index % chunkSize);
    this.turn = this.#run[index % chunkSize];
  }
}

/** A class, because a generator costs more than the rest of a step. */
class TurnsNewestFirst implements IterableIterator<Turn, void> {
  readonly #walk: PathWalk;

  constructor(thread: Thread) {
    this.#walk = new PathWalk(thread);
  }

  next(): IteratorResult<Turn, void> {
    const { turn } = this.#walk;
    if (turn === undefined) return { done: true, value: undefined };
    this.#walk.step();
    return { done: false, value: turn };
  }

  [Symbol.iterator](): this {
    return this;
  }
}

/** Returns the closed turns on the path, oldest first. */
export const turnsOnPath = (thread: Thread): readonly Turn[] => [...turnsNewestFirst(thread)].reverse();

/** Returns whether a prompt of the thread would be empty under every policy. */
export const isThreadEmpty = (thread: Thread): boolean =>
  thread.system === null && thread.seed.length === 0 && thread.appended.length === 0 && !saidOnPath(thread);

/** Returns whether a closed turn on the path has a message; a cancelled one may have none. */
const saidOnPath = (thread: Thread): boolean => {
  for (const { messages } of turnsNewestFirst(thread)) if (messages.length > 0) return true;
  return false;
};

/**
 * Returns the messages of the path's closed turns, and those appended since, oldest first, without the system message.
 */
export const messagesOnPath = (thread: Thread): readonly Message[] => [
  ...thread.seed,
  ...turnsOnPath(thread).flatMap((turn) => toArray(turn.messages)),
  ...thread.appended,
];

/** Returns whether a closed turn is on the path; 0 always is. It costs a step for each branch. */
export const isOnPath = (thread: Thread, number: number): boolean => isBefore(thread, number, thread.head);

/** Returns whether a closed turn is `last`, or on the path that leads to it. */
export const isBefore = (thread: Thread, number: number, last: number): boolean => {
  if (number === 0) return true;
  for (let turn = turnOf(thread, last); turn !== undefined && turn.number >= number;) {
    if (turn.place.straightFrom <= number) return true;
    const first = turnOf(thread, turn.place.straightFrom);
    turn = first === undefined ? undefined : turnOf(thread, first.parent);
  }
  return false;
};

/** Returns the place of a turn that follows another one; 0 is the beginning. */
export const placeAfter = (thread: Thread, parent: number, number: number, messages: readonly Message[]): TurnPlace => {
  const added = sizeOf(messages);
  const place = turnOf(thread, parent)?.place;
  const before = place ?? { turns: 0, ...sizeOf(thread.seed) };
  return {
    turns: before.turns + 1,
    messages: before.messages + added.messages,
    characters: before.characters + added.characters,
    straightFrom: place !== undefined && parent === number - 1 ? place.straightFrom : number,
  };
};

/** Returns the number of messages, and of their texts' characters in UTF-16 units. */
export const sizeOf = (messages: readonly Message[]): { readonly messages: number; readonly characters: number } => ({
  messages: messages.length,
  characters: messages.reduce((total, message) => total + textLengthOf(message), 0),
});

/** Returns the length of a message's text, in UTF-16 units, without building the text. */
const textLengthOf = (message: Message): number => {
  const parts = message.role === "tool" ? (toolResultOf(message)?.content ?? message.parts) : message.parts;
  return parts.reduce((length, part) => (part.type === "text" ? length + part.text.length : length), 0);
};

export const sizeOfAppended = ({ appended, appendedCharacters = 0 }: Thread): ReturnType<typeof sizeOf> => ({
  messages: appended.length,
  characters: appendedCharacters,
});

export const withAppended = (thread: Thread, messages: readonly Message[]): Thread => ({
  ...thread,
  appended: extended(thread.appended, messages),
  appendedCharacters: sizeOfAppended(thread).characters + sizeOf(messages).characters,
});

/** Returns the thread without appended messages, after they went into a turn. */
export const withoutAppended = (thread: Thread): Thread => {
  if (thread.appendedCharacters === undefined) return { ...thread, appended: [] };
  const { appendedCharacters: _, ...rest } = thread;
  return { ...rest, appended: [] };
};
