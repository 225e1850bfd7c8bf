import { toArray } from "../thread/chunks.ts";
import { turnOf } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { InterruptedTurns } from "./cut.ts";
import { type Unit, unitsOf } from "./unit.ts";

// Servers refuse conversations that begin with a model's call or answer (Gemini: "function call turn comes immediately after a
// user turn or after a function response turn"; Anthropic and the chat templates of local models: roles begin with the user).
// So a turn of which something is shown shows its question, and a prompt that would begin otherwise is led by the question
// before. Nothing is made up: both are what was said.

/** Returns the first user message of a turn; undefined where it has none, and of the seed, in which each answer has its own. */
export const questionIn = (turn: number, units: readonly Unit[]): Unit | undefined =>
  turn === 0 ? undefined : units.find((unit) => roleOf(unit) === "user");

/** Whether a unit can't begin a prompt: a model's, where neither system message nor user led it. */
export const needsQuestion = (unit: Unit): boolean => {
  const role = roleOf(unit);
  return role === "assistant" || role === "tool";
};

/** Whether a unit is a system message that was appended, and so belongs to no question and no answer. */
export const isAside = (unit: Unit): boolean => {
  const role = roleOf(unit);
  return role === "system" || role === "developer";
};

/** Yields what may lead a unit, the nearest first: the questions of earlier turns of its path, and in the seed each user message. */
export function* questionsBefore(
  thread: Thread,
  { turn: number, position }: Pick<Unit, "turn" | "position">,
  interrupted: InterruptedTurns,
): Generator<Unit, void, void> {
  // The turn that is open, or comes next, continues the head.
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
