/** Where a window begins: at a unit, or at the very beginning of the path, which is older than all. */
export type Start = UnitPosition | null;

/** Whether a window that begins here shows more than one that begins there. */
export const isOlder = (start: Start, than: Start): boolean =>
  than !== null && (start === null || start.turn < than.turn || (start.turn === than.turn && start.unit < than.unit));

/** The one that shows less. */
export const newerOf = (left: Start, right: Start): Start => (isOlder(left, right) ? right : left);

/** Behind the turn of a number: turns that follow will be shown. */
export const behind = (turn: number): UnitPosition => ({ turn: turn + 1, unit: 0 });

/** Behind all closed turns, those to come included. */
export const nowhere: UnitPosition = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };

/** Whether a position is behind all closed turns, those to come included. */
export const isNowhere = ({ turn, unit }: UnitPosition): boolean => turn === nowhere.turn && unit === nowhere.unit;

/** A unit by its turn (0 for the seed) and its place in it, from 0. */
export interface UnitPosition {
  readonly turn: number;
  readonly unit: number;
}
