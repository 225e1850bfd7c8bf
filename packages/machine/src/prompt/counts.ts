import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import type { Turn } from "../thread/turn.ts";
import type { Counter } from "./counter.ts";
import { countMessage } from "./counter.ts";
import type { Shrink } from "./shrink.ts";
import { shrinkMessage } from "./shrink.ts";

/** A counter that counts each message once: messages and turns never change, so neither do their counts. */
export interface Counts {
  readonly counter: Counter;
  readonly message: (message: Message) => number;
  /** Of a whole closed turn. */
  readonly turn: (turn: Turn) => number;
  readonly prompt: (messages: readonly Message[]) => number;
  /** As `shrinkMessage`, the same object for the same message and rules, so that it is counted once. */
  readonly shrink: (message: Message, rules: readonly Shrink[]) => Message;
}

/**
 * The counts of a counter, each kept for as long as its message is. They are no part of the state: a thread that
 * was just read has none, and the next prompt counts what it shows.
 */
export const countsOf = (counter: Counter): Counts => {
  const ofMessages = new WeakMap<Message, number>();
  const ofTurns = new WeakMap<Turn, number>();
  const shrunk = new WeakMap<Message, Map<string, Message>>();
  const message = (counted: Message): number => {
    const known = ofMessages.get(counted);
    if (known !== undefined) return known;
    const tokens = countMessage(counter, counted);
    ofMessages.set(counted, tokens);
    return tokens;
  };
  const turn = (counted: Turn): number => {
    const known = ofTurns.get(counted);
    if (known !== undefined) return known;
    let tokens = 0;
    for (const each of toArray(counted.messages)) tokens += message(each);
    ofTurns.set(counted, tokens);
    return tokens;
  };
  const prompt = (messages: readonly Message[]): number => {
    if (counter.countPrompt !== undefined) return counter.countPrompt(messages);
    let tokens = counter.perPrompt;
    for (const each of messages) tokens += message(each);
    return tokens;
  };
  const shrink = (whole: Message, rules: readonly Shrink[]): Message => {
    const key = rules.map(({ rule, of, characters, tool }) => `${rule} ${of} ${characters} ${tool ?? ""}`).join("\n");
    const known = shrunk.get(whole) ?? new Map<string, Message>();
    const before = known.get(key);
    if (before !== undefined) return before;
    const after = shrinkMessage(whole, rules);
    shrunk.set(whole, known.set(key, after));
    return after;
  };
  return { counter, message, turn, prompt, shrink };
};
