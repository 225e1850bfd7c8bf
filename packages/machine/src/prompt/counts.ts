import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";
import { type Counter, countMessage } from "./counter.ts";
import { type Blocks, messagesIn } from "./blocks.ts";
import { type Shrink, shrinkMessage } from "./shrink.ts";

/** A counter that counts each message once. Messages and turns never change, so neither do their counts. */
export interface Counts {
  readonly counter: Counter;
  readonly message: (message: Message) => number;
  /** Returns the tokens of a closed turn. */
  readonly turn: (turn: Turn) => number;
  /** Returns the tokens of adjacent closed turns: from each of them to the last. */
  readonly run: (turns: readonly Turn[]) => readonly number[];
  readonly prompt: (messages: readonly Message[]) => number;
  /** Returns the tokens of a prompt before it is put together. */
  readonly blocks: (blocks: Blocks) => number;
  /** Joins adjacent turns, so that showing them all costs as much as showing one. */
  readonly together: (turns: readonly Turn[]) => WholeRun;
  /**
   * Works as `shrinkMessage`, but returns the same object for the same message and rules, so that it is counted once.
   */
  readonly shrink: (message: Message, rules: readonly Shrink[]) => Message;
}

/** Adjacent turns, joined. A long prompt shows many such runs. */
export interface WholeRun {
  readonly messages: readonly Message[];
  /** The index of each turn's first message. */
  readonly starts: readonly number[];
  /** True if none of them was interrupted. */
  readonly completed: boolean;
}

/**
 * Returns the counts of a counter. Each is kept for as long as its message is. They are not part of the state: a
 * thread that was just read has none, and the next prompt counts what it shows.
 */
export const countsOf = (counter: Counter): Counts => {
  const shrunk = new WeakMap<Message, Map<string, Message>>();
  const message = remembering((counted: Message): number => countMessage(counter, counted));
  const turn = remembering((counted: Turn): number => {
    let tokens = 0;
    for (const each of toArray(counted.messages)) tokens += message(each);
    return tokens;
  });
  const run = remembering((counted: readonly Turn[]): readonly number[] => {
    let tokens = 0;
    return counted
      .toReversed()
      .map((each) => (tokens += turn(each)))
      .reverse();
  });
  const prompt = (messages: readonly Message[]): number =>
    counter.countPrompt?.(messages) ?? messages.reduce((total, each) => total + message(each), counter.perPrompt);
  const blocks = (shown: Blocks): number => {
    if (counter.countPrompt !== undefined) return counter.countPrompt(messagesIn(shown));
    let tokens = counter.perPrompt;
    for (let index = 0; index < shown.messages.length; index++) {
      const whole = shown.turns[index] ?? null;
      if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 0) : turn(whole);
      else for (const each of shown.messages[index] ?? []) tokens += message(each);
    }
    return tokens;
  };
  const together = remembering((turns: readonly Turn[]): WholeRun => {
    let start = 0;
    return {
      starts: turns.map(({ messages }) => (start += messages.length) - messages.length),
      messages: turns.flatMap(({ messages }) => toArray(messages)),
      completed: turns.every(({ outcome }) => outcome.status === "completed"),
    };
  });
  const shrink = (whole: Message, rules: readonly Shrink[]): Message => {
    // The key omits the place where a rule applies, since that does not change its effect.
    const key = JSON.stringify(rules.map(({ rule, of, characters, tool }) => [rule, of, characters, tool]));
    const known = shrunk.get(whole);
    const before = known?.get(key);
    if (before !== undefined) return before;
    const after = shrinkMessage(whole, rules);
    // Most messages are short enough for any rule.
    if (after === whole) return after;
    const forms = known ?? new Map<string, Message>();
    const [oldest] = forms.keys();
    if (forms.size >= mostShrunk && oldest !== undefined) forms.delete(oldest);
    shrunk.set(whole, forms.set(key, after));
    return after;
  };
  return { counter, message, turn, run, prompt, blocks, together, shrink };
};

/** The number of shorter forms kept of a message: as many as `fitOversized` tries, and some more. */
const mostShrunk = 16;

/** Returns the count, or null if the counter fails. Never throws, though a counter may be foreign code that does. */
export const counted = (count: () => number): number | null => {
  try {
    const tokens = count();
    return Number.isFinite(tokens) ? tokens : null;
  } catch {
    return null;
  }
};

/**
 * Returns a function that computes a value once for each object and keeps it as long as the object. Use it only for
 * objects that never change, such as messages and closed turns.
 */
const remembering = <Key extends object, Value>(make: (key: Key) => Value): ((key: Key) => Value) => {
  const known = new WeakMap<Key, Value>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const value = make(key);
    known.set(key, value);
    return value;
  };
};
