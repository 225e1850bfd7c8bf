import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import { turnsNewestFirst } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { Turn } from "../thread/turn.ts";
import type { Cut, UnitPosition } from "./cut.ts";
import { unitsOf } from "./unit.ts";

/**
 * The messages of a prompt: the system message, what the cut shows of the closed turns, then the open turn.
 * Units are shown or left out whole, so the result is as well-formed as the thread. Reads only what is shown.
 */
export const render = (
  thread: Thread,
  cut: Cut,
  system: Message | null,
  open: readonly Message[],
): readonly Message[] => {
  const blocks: (readonly Message[])[] = [open];
  let complete = true;
  for (const turn of turnsNewestFirst(thread)) {
    if (cut.from !== null && turn.number < cut.from.turn) {
      complete = false;
      break;
    }
    if (!leftOut(turn, cut)) blocks.push(shown(turn.number, toArray(turn.messages), cut));
  }
  if (complete && thread.seed.length > 0) blocks.push(shown(0, thread.seed, cut));
  if (system !== null) blocks.push([system]);
  return blocks.reverse().flat();
};

/** Whether a cut leaves a whole turn out because it was interrupted. */
const leftOut = (turn: Turn, cut: Pick<Cut, "interrupted">): boolean =>
  cut.interrupted === "omit" && turn.outcome.status !== "completed";

/** Whether a cut shows the unit at a position. */
const isShown = (position: UnitPosition, id: string, cut: Cut): boolean =>
  !(cut.from !== null && isBefore(position, cut.from)) && cut.dropped?.includes(id) !== true;

const shown = (turn: number, messages: readonly Message[], cut: Cut): readonly Message[] => {
  const whole = cut.from === null || turn > cut.from.turn || (turn === cut.from.turn && cut.from.unit === 0);
  if (whole && cut.dropped === undefined) return messages;
  return unitsOf(turn, messages).flatMap((unit) =>
    isShown({ turn, unit: unit.position }, unit.id, cut) ? unit.messages : [],
  );
};

const isBefore = (left: UnitPosition, right: UnitPosition): boolean =>
  left.turn < right.turn || (left.turn === right.turn && left.unit < right.unit);
