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
