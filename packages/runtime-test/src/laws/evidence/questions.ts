import type { Unit } from "@colloquy/machine/policies";

/**
 * Returns the shown units and the questions that go with them. If anything of a turn is shown, so is the first user
 * message before it in that turn. The nearest question is added before the first unit if that is a model's, and before
 * a pinned unit of a model. A question of which no field is shown is not added. Written independently of the machine;
 * slow.
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

/** Returns whether a shown unit would also be shown without the policy, as a question. */
export const isQuestionAlone = (
  closed: readonly Unit[],
  open: readonly Unit[],
  shown: ReadonlySet<Unit>,
  unit: Unit,
  hasWords: HasWords = always,
): boolean => withQuestions(closed, open, new Set([...shown].filter((other) => other !== unit)), hasWords).has(unit);

/** Returns whether the shown fields leave anything of a unit. */
export type HasWords = (unit: Unit) => boolean;

const always: HasWords = () => true;

/**
 * Returns the nearest question before a unit: the first user message of an earlier turn, or any user message of the
 * seed.
 */
const questionBefore = (units: readonly Unit[], unit: Unit, hasWords: HasWords = always): Unit | undefined =>
  units
    .slice(0, units.indexOf(unit))
    .filter(hasWords)
    .findLast((other) => isOfUser(other) && (other.turn === 0 || ownQuestion(units, other) === undefined));

/** Returns the first user message of a unit's turn if it is before the unit; never one of the seed. */
export const ownQuestion = (units: readonly Unit[], { turn, position }: Unit): Unit | undefined =>
  units.find((other) => turn > 0 && other.turn === turn && isOfUser(other) && other.position < position);

const roleOf = ({ messages }: Unit): string | undefined => messages[0]?.role;

const isOfUser = (unit: Unit): boolean => roleOf(unit) === "user";

const isOfModel = (unit: Unit): boolean => roleOf(unit) === "assistant";

const isOfSystem = (unit: Unit): boolean => roleOf(unit) === "system" || roleOf(unit) === "developer";
