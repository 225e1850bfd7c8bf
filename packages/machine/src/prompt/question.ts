import { turnOf, type Thread } from "../thread/thread.ts";
import { toArray } from "../thread/chunks.ts";
import type { InterruptedTurns } from "./cut.ts";
import { type Unit, unitsOf } from "./unit.ts";

// Servers refuse conversations that begin with a model's call or answer (Gemini: "function call turn comes immediately
// after a user turn or after a function response turn"; Anthropic and the chat templates of local models: roles begin
// with the user). So a partly shown turn always shows its question, and a prompt that would begin otherwise is led by
// an earlier question. Nothing is made up: both are messages of the thread.

/**
 * Returns the first user message of a turn. Returns undefined if it has none, and for the seed, in which each answer
 * has its own question.
 */
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

/**
 * Yields the possible leading questions of a unit, nearest first: the questions of earlier turns of its path, and each
 * user message of the seed.
 */
export function* questionsBefore(
  thread: Thread,
  { turn: number, position }: Pick<Unit, "turn" | "position">,
  interrupted: InterruptedTurns,
): Generator<Unit, void, void> {
  // The open or next turn continues the head.
  let before = number > thread.turns.length ? thread.head : (turnOf(thread, number)?.parent ?? 0);
  for (let turn = turnOf(thread, before); number > 0 && turn !== undefined; turn = turnOf(thread, before)) {
    before = turn.parent;
    if (interrupted === "omit" && turn.outcome.status !== "completed") continue;
    const question = questionIn(turn.number, unitsOf(turn.number, toArray(turn.messages)));
    if (question !== undefined) yield question;
  }
  const seed = unitsOf(0, thread.seed);
  for (const unit of (number === 0 ? seed.slice(0, position) : seed).toReversed())
    if (roleOf(unit) === "user") yield unit;
}

const roleOf = ({ messages }: Unit): string | undefined => messages[0]?.role;
