import { type Message, toolCallsOf } from "../thread/message.ts";
import { type Thread, turnOf } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { Turn } from "../thread/turn.ts";

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
  let index = 0;
  for (let first = messages[index]; first !== undefined; first = messages[index]) {
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

// Servers refuse conversations that begin with a model's call or answer (Gemini: "function call turn comes immediately
// after a user turn or after a function response turn"; Anthropic and the chat templates of local models: roles begin
// with the user). So a partly shown turn always shows its question, and a prompt that would begin otherwise is led by
// an earlier question. Nothing is made up: both are messages of the thread.

/** Returns the first user message of a turn; none for the seed, where each answer has its own question. */
export const questionIn = (turn: number, units: readonly Unit[]): Unit | undefined =>
  turn === 0 ? undefined : units.find((unit) => roleOf(unit) === "user");

/** Returns whether a unit cannot begin a prompt, because it is a model's. */
export const needsQuestion = (unit: Unit): boolean => {
  const role = roleOf(unit);
  return role === "assistant" || role === "tool";
};

/** Returns whether a unit is an appended system message, which belongs to no question or answer. */
export const isAside = (unit: Unit): boolean => {
  const role = roleOf(unit);
  return role === "system" || role === "developer";
};

/** Returns whether messages are all appended system messages, or none: neither a question nor an answer. */
export const saysNothing = (messages: readonly Message[]): boolean =>
  messages.every(({ role }) => role === "system" || role === "developer");

/** The pinned messages by turn. */
export type Pins = ReadonlyMap<number, ReadonlySet<string>>;

/**
 * Yields the possible leading questions of a unit, nearest first, of its path and of the seed. Of a turn that is left
 * out because it was interrupted, only a pinned question is shown.
 */
export function* questionsBefore(
  thread: Thread,
  { turn: number, position }: Pick<Unit, "turn" | "position">,
  interrupted: InterruptedTurns,
  pins?: Pins,
): Generator<Unit, void, void> {
  // The open or next turn continues the head.
  let before = number > thread.turns.length ? thread.head : (turnOf(thread, number)?.parent ?? 0);
  for (let turn = turnOf(thread, before); turn !== undefined; turn = turnOf(thread, before)) {
    before = turn.parent;
    const pinned = isLeftOut(turn, { interrupted }) ? pins?.get(turn.number) : null;
    if (pinned === undefined) continue;
    const question = questionIn(turn.number, unitsOf(turn.number, toArray(turn.messages)));
    if (question !== undefined && pinned?.has(question.id) !== false) yield question;
  }
  const seed = unitsOf(0, thread.seed);
  for (const unit of (number === 0 ? seed.slice(0, position) : seed).toReversed())
    if (roleOf(unit) === "user") yield unit;
}

const roleOf = ({ messages }: Unit): string | undefined => messages[0]?.role;

/** `keep`: shown whole, with synthesised results marked as such. `omit`: left out of prompts. */
export type InterruptedTurns = "keep" | "omit";

/** Returns whether a turn is left out because it was interrupted. */
export const isLeftOut = ({ outcome }: Turn, { interrupted }: { readonly interrupted: InterruptedTurns }): boolean =>
  interrupted === "omit" && outcome.status !== "completed";

/** The start of a window: a unit, or null for the beginning of the path, which is the oldest. */
export type Start = UnitPosition | null;

/** Returns whether a window that begins at `start` shows more than one that begins at `than`. */
export const isOlder = (start: Start, than: Start): boolean =>
  than !== null && (start === null || start.turn < than.turn || (start.turn === than.turn && start.unit < than.unit));

/** Returns the start that shows less. */
export const newerOf = (left: Start, right: Start): Start => (isOlder(left, right) ? right : left);

/** Returns the position after a turn. Later turns will be shown. */
export const behind = (turn: number): UnitPosition => ({ turn: turn + 1, unit: 0 });

/** The position after all closed turns, including future ones. */
export const nowhere: UnitPosition = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };

/** Returns whether a position is after all closed turns, including future ones. */
export const isNowhere = ({ turn, unit }: UnitPosition): boolean => turn === nowhere.turn && unit === nowhere.unit;

/** The position of a unit: its turn (0 for the seed) and its index there, from 0. */
export interface UnitPosition {
  readonly turn: number;
  readonly unit: number;
}
