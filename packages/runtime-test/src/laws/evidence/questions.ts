import type { Unit } from "@colloquy/machine/policies";

/**
 * What is shown of a thread, with the questions that go with it: of a turn of which anything is shown the first user message
 * before it, and before what a model said first, or is pinned of it, the nearest question. A question of which no field is shown
 * leads nothing. Written apart from the machine, and slow.
 */
export const withQuestions = (
  closed: readonly Unit[],
  open: readonly Unit[],
  shown: ReadonlySet<Unit>,
  hasWords: HasWords = always,
): ReadonlySet<Unit> => {
  const all = [...closed, ...open];
  const led = new Set(shown);
  for (const unit of shown) {
    const own = ownQuestion(all, unit);
    const question = own ?? (unit.pinned === true && isOfModel(unit) ? questionBefore(all, unit) : undefined);
    if (question !== undefined && (unit.pinned === true || hasWords(question))) led.add(question);
  }
  const first = [...closed.filter((unit) => led.has(unit)), ...open].find((unit) => !isOfSystem(unit));
  const lead = first !== undefined && isOfModel(first) ? questionBefore(all, first, hasWords) : undefined;
  if (lead !== undefined) led.add(lead);
  return led;
};

/** Whether a unit that is shown is shown as a question alone: it would be without the policy. */
export const isQuestionAlone = (
  closed: readonly Unit[],
  open: readonly Unit[],
  shown: ReadonlySet<Unit>,
  unit: Unit,
  hasWords: HasWords = always,
): boolean => withQuestions(closed, open, new Set([...shown].filter((other) => other !== unit)), hasWords).has(unit);

/** Whether the fields that a prompt shows leave anything of a unit. */
export type HasWords = (unit: Unit) => boolean;

const always: HasWords = () => true;

/** The nearest question before a unit: the first user message of an earlier turn, or any of the seed. */
const questionBefore = (units: readonly Unit[], unit: Unit, hasWords: HasWords = always): Unit | undefined =>
  units
    .slice(0, units.indexOf(unit))
    .filter(hasWords)
    .findLast((other) => isOfUser(other) && (other.turn === 0 || ownQuestion(units, other) === undefined));

/** The first user message of a unit's own turn, where that is before it; the seed has none. */
export const ownQuestion = (units: readonly Unit[], { turn, position }: Unit): Unit | undefined =>
  units.find((other) => turn > 0 && other.turn === turn && isOfUser(other) && other.position < position);

const roleOf = ({ messages }: Unit): string | undefined => messages[0]?.role;

const isOfUser = (unit: Unit): boolean => roleOf(unit) === "user";

const isOfModel = (unit: Unit): boolean => roleOf(unit) === "assistant";

const isOfSystem = (unit: Unit): boolean => roleOf(unit) === "system" || roleOf(unit) === "developer";
