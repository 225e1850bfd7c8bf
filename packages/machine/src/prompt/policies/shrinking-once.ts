import type { Message } from "../../thread/message.ts";
import type { Shrinker } from "../render.ts";
import type { Shrink } from "../shrink.ts";
import { shrinkMessage } from "../shrink.ts";

/** Makes a message shorter once for as long as it exists, so that what is made of it is counted once too. */
export const shrinkingOnce = (): Shrinker => {
  const known = new WeakMap<Message, Map<string, Message>>();
  return (message, rules) => {
    const before = known.get(message);
    const key = before === undefined ? null : keyOf(rules);
    const same = key === null ? undefined : before?.get(key);
    if (same !== undefined) return same;
    const shrunk = shrinkMessage(message, rules);
    // Most messages are short enough, and not worth remembering.
    if (shrunk !== message) known.set(message, new Map(before).set(key ?? keyOf(rules), shrunk));
    return shrunk;
  };
};

const keyOf = (rules: readonly Shrink[]): string => JSON.stringify(rules.map(({ before: _, ...rule }) => rule));
