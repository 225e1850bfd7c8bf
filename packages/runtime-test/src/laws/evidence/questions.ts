import type { Turn } from "@colloquy/machine";
import type { Unit } from "@colloquy/machine/policies";

/** The units of a thread, among which questions are found. */
export interface Asked {
  /** Units of the seed and of the closed turns on the path, oldest first, with their pins. */
  readonly closed: readonly Unit[];
  /**
   * Units of the open turn, with a result for each running call, and with the messages of joining asks. Between turns:
   * the messages that wait for the next turn.
   */
  readonly open: readonly Unit[];
  /** False between turns. */
  readonly isOpen: boolean;
  /** Closed turns on the path, by number. */
  readonly turns: ReadonlyMap<number, Turn>;
}

/** The shown units of closed turns, and the turn from which on they are not shown only because they are pinned. */
interface ShownUnits {
  readonly units: ReadonlySet<Unit>;
  /** 0 is the seed. */
  readonly from: number;
}

/**
 * Returns the shown units and the questions that go with them. If anything of a turn is shown, so is the first user
 * message before it in that turn. The nearest question is added before the first unit if that is a model's, and before
 * a pinned unit of a model. It is also added before the first turn if nothing is said in it, since the next message may
 * be a model's. A question of which no field is shown is not added. Written independently of the machine; slow.
 */
export const withQuestions = (
  said: Asked,
  { units: shown, from }: ShownUnits,
  hasWords: HasWords = always,
): ReadonlySet<Unit> => {
  const { closed, open } = said;
  const all = [...closed, ...open];
  const led = new Set(shown);
  for (const unit of shown) {
    const own = ownQuestion(all, unit);
    const question = own ?? (unit.pinned === true && isOfModel(unit) ? questionBefore(all, unit) : undefined);
    if (question !== undefined && (unit.pinned === true || hasWords(question))) led.add(question);
  }
  const first = [...closed.filter((unit) => led.has(unit)), ...open].find((unit) => !isOfSystem(unit));
  const silent = silentTurn(said, { units: led, from }, hasWords);
  const before =
    first !== undefined && isOfModel(first)
      ? first
      : silent !== null && (first === undefined || first.turn > silent.turn)
        ? silent
        : undefined;
  const lead = before === undefined ? undefined : questionBefore(all, before, hasWords);
  if (lead !== undefined) led.add(lead);
  return led;
};

type Place = Pick<Unit, "turn" | "position">;

/** Returns where the first turn of a prompt begins if nothing is said in it: it is empty, or only system messages. */
const silentTurn = (
  { closed, open, isOpen, turns }: Asked,
  { units, from }: ShownUnits,
  hasWords: HasWords,
): Place | null => {
  const numbers = [0, ...turns.keys()].filter((turn) => turn >= from).sort((left, right) => left - right);
  for (const turn of numbers) {
    const own = closed.filter((unit) => unit.turn === turn);
    const seen = own.filter((unit) => units.has(unit) && hasWords(unit));
    const [first] = seen;
    if (first !== undefined) return seen.every(isOfSystem) ? first : null;
    if (turn > 0 && own.length === 0) return { turn, position: 0 };
  }
  return isOpen && open.every(isOfSystem) ? { turn: Number.POSITIVE_INFINITY, position: 0 } : null;
};

/** Returns whether a shown unit would also be shown without the policy, as a question. */
export const isQuestionAlone = (
  said: Asked,
  { units, from }: ShownUnits,
  unit: Unit,
  hasWords: HasWords = always,
): boolean =>
  withQuestions(said, { units: new Set([...units].filter((other) => other !== unit)), from }, hasWords).has(unit);

/** Returns whether the shown fields leave anything of a unit. */
export type HasWords = (unit: Unit) => boolean;

const always: HasWords = () => true;

/** Returns the nearest question before a unit: the first user message of its turn, or any of the seed. */
const questionBefore = (
  units: readonly Unit[],
  { turn, position }: Place,
  hasWords: HasWords = always,
): Unit | undefined =>
  units
    .filter((other) => other.turn < turn || (other.turn === turn && other.position < position))
    .filter(hasWords)
    .findLast((other) => isOfUser(other) && (other.turn === 0 || ownQuestion(units, other) === undefined));

/** Returns the first user message of a unit's turn if it is before the unit; never one of the seed. */
export const ownQuestion = (units: readonly Unit[], { turn, position }: Unit): Unit | undefined =>
  units.find((other) => turn > 0 && other.turn === turn && isOfUser(other) && other.position < position);

const roleOf = ({ messages }: Unit): string | undefined => messages[0]?.role;

const isOfUser = (unit: Unit): boolean => roleOf(unit) === "user";

const isOfModel = (unit: Unit): boolean => roleOf(unit) === "assistant";

const isOfSystem = (unit: Unit): boolean => roleOf(unit) === "system" || roleOf(unit) === "developer";
