import type { LaterEntry } from "@colloquy/machine";
import type { SimulatedProcess } from "../world/process.ts";
import { undisturbed, type WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";

/**
 * Checks an entry with a call that waits for a summary: the wait ends when its time is over, whatever happened to the
 * summary.
 */
export const checkWait = (
  world: World,
  processes: readonly SimulatedProcess[],
  journal: WatchedJournal,
  { seq, decided }: LaterEntry,
): void => {
  const dueAt = decided?.compacting?.dueAt;
  const process = holderOf(processes, journal);
  const isUndisturbed = process === undefined ? null : undisturbed(process, journal);
  if (dueAt === undefined || isUndisturbed === null) return;
  // An ask that was made long before it was accepted may have waited long enough already.
  world.clock.wakeAt(Math.max(dueAt, world.clock.now()) + longestAppendMs, () => {
    const stage = journal.state?.context.open?.stage;
    if (stage?.type !== "compacting" || stage.dueAt !== dueAt || !isUndisturbed()) return;
    world.breaks("settles", `since entry ${seq} a call waits for a summary, and does so after its time is over`);
  });
};

/** Returns the process that holds the thread; undefined while none does, so that no work is done for it. */
export const holderOf = (
  processes: readonly SimulatedProcess[],
  { newestToken }: WatchedJournal,
): SimulatedProcess | undefined =>
  processes.find(({ alive, opening }) => alive && opening?.token === newestToken && !opening.over);

/** Returns whether a handler still writes the outstanding summary. */
export const isBeingWritten = ({ work }: SimulatedProcess, { outstanding }: WatchedJournal): boolean =>
  [...work].some(
    ({ id, type, signal }) => type === "summary" && !signal.aborted && outstanding.some((effect) => effect.id === id),
  );

/** Longer than a few slow writes of entries. */
const longestAppendMs = 300;
