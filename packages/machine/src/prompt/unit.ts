import { type Message, toolCallsOf } from "../thread/message.ts";

/**
 * The unit of a policy's decision: a whole round (an assistant message with its calls, and all results), or one
 * message outside rounds.
 */
export interface Unit {
  /** The id of its first message. */
  readonly id: string;
  /** The number of its turn; 0 for the seed. */
  readonly turn: number;
  /** Its index in the turn, from 0. */
  readonly position: number;
  readonly kind: "round" | "message";
  readonly messages: readonly Message[];
  /** True if one of its messages is pinned, so that it is always shown whole. */
  readonly pinned?: true;
}

/**
 * Returns the units of a turn's messages, in order. A round ends with its last result, and later messages do not
 * belong to it.
 */
export const unitsOf = (turn: number, messages: readonly Message[], pins?: ReadonlySet<string>): readonly Unit[] => {
  const units: Unit[] = [];
  for (let index = 0; index < messages.length;) {
    const first = messages[index];
    if (first === undefined) break;
    // Most messages have no calls, and only a model's message can have them.
    const calls = first.role === "assistant" ? toolCallsOf(first).length : 0;
    const end = calls === 0 ? index + 1 : index + 1 + resultsFrom(messages, index + 1, calls);
    const inUnit = between(messages, index, end);
    units.push({
      id: first.id,
      turn,
      position: units.length,
      kind: calls === 0 ? "message" : "round",
      messages: inUnit,
      ...(pins !== undefined && inUnit.some(({ id }) => pins.has(id)) ? { pinned: true as const } : {}),
    });
    index = end;
  }
  return units;
};

/** Returns whether messages have a unit at a position, without creating the units. */
export const hasUnit = (messages: readonly Message[], position: number): boolean => {
  let index = 0;
  for (let before = 0; before < position; before++) {
    const first = messages[index];
    if (first === undefined) return false;
    index += 1;
    // Most messages have no calls.
    if (first.role === "assistant") index += resultsFrom(messages, index, toolCallsOf(first).length);
  }
  return index < messages.length;
};

/** Works as `slice`, which takes many times as long for a frozen list. */
const between = (messages: readonly Message[], from: number, end: number): readonly Message[] => {
  const found: Message[] = [];
  for (let index = from; index < end; index++) {
    const message = messages[index];
    if (message !== undefined) found.push(message);
  }
  return found;
};

const resultsFrom = (messages: readonly Message[], from: number, most: number): number => {
  let found = 0;
  while (found < most && messages[from + found]?.role === "tool") found++;
  return found;
};
