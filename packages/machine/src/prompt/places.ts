import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import { turnOf } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { Cut } from "./cut.ts";
import type { PolicyDecision } from "./policy.ts";
import { preview } from "../thread/preview.ts";
import { isNowhere, type UnitPosition } from "./position.ts";
import { hasUnit, unitsOf } from "./unit.ts";

/** The places that a decision may name. */
export interface Places {
  readonly thread: Thread;
  readonly system: Message | null;
  readonly open: () => readonly Message[];
  readonly lastCut: Cut | null;
}

/**
 * Returns an error for the first place in a decision that the thread does not have, or null. Units of abandoned
 * branches exist. It reads one turn for each position, and the turns of dropped units.
 */
export const unknownPlaceIn = ({ from, dropped = [], shrink = [] }: PolicyDecision, places: Places): string | null => {
  const start = from === null ? null : problemOfPosition(from, places);
  if (start !== null) return `from is ${preview(from)}, and ${start}`;
  for (const { before } of shrink) {
    const end = before === undefined ? null : problemOfPosition(before, places);
    if (end !== null) return `shrink has a rule before ${preview(before)}, and ${end}`;
  }
  const unknown = unknownUnit(dropped, places);
  return unknown === undefined ? null : `dropped has ${preview(unknown)}, which is the id of no unit`;
};

const problemOfPosition = (position: UnitPosition, places: Places): string | null => {
  const { turn, unit } = position;
  const next = places.thread.turns.length + 1;
  // The beginning of the next turn is right after all closed turns.
  if (unit === 0 && turn <= next) return null;
  if (isNowhere(position)) return null;
  const messages = turn > next ? [] : messagesOf(turn, places);
  if (hasUnit(messages, unit) || isOfLastCut(position, places)) return null;
  if (turn > next)
    return `the thread has ${next - 1} turns that have ended; behind all of them is turn ${next}, unit 0`;
  const units = unitsOf(turn, messages).length;
  return `turn ${turn} has ${units} ${units === 1 ? "unit" : "units"}`;
};

/**
 * Returns whether the last cut has this position. An unchanged cut may name a place that no longer exists, such as an
 * open turn that a fork dropped.
 */
const isOfLastCut = (position: UnitPosition, { lastCut }: Places): boolean =>
  [lastCut?.from, ...(lastCut?.shrink ?? []).map(({ before }) => before)].some(
    (last) => last?.turn === position.turn && last.unit === position.unit,
  );

const unknownUnit = (ids: readonly string[], places: Places): string | undefined => {
  const known = new Map<number, ReadonlySet<string>>();
  return ids.find((id) => {
    if (id === places.system?.id) return false;
    // Ids begin with the number of their turn.
    const turn = Number.parseInt(id, 10);
    const units = known.get(turn) ?? new Set(unitsOf(turn, messagesOf(turn, places)).map((unit) => unit.id));
    known.set(turn, units);
    return !units.has(id);
  });
};

/** Returns the messages of a closed turn, of the seed, or of the open or next turn. */
const messagesOf = (turn: number, { thread, open }: Places): readonly Message[] => {
  if (turn === 0) return thread.seed;
  if (turn === thread.turns.length + 1) return open();
  const closed = turnOf(thread, turn);
  return closed === undefined ? [] : toArray(closed.messages);
};
