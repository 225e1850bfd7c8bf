import type { LaterEntry } from "@colloquy/machine";
import type { SimulatedProcess } from "../world/process.ts";
import { undisturbed, type WatchedJournal } from "./watched-journal.ts";
import type { World } from "../world/world.ts";

/** An entry says that a call waits for a summary: when the time for that is over, so is the wait, whatever became of the summary. */
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
  // What was asked long before it was taken may have waited long enough already.
  world.clock.wakeAt(Math.max(dueAt, world.clock.now()) + longestAppendMs, () => {
    const stage = journal.state?.context.open?.stage;
    if (stage?.type !== "compacting" || stage.dueAt !== dueAt || !isUndisturbed()) return;
    world.breaks("settles", `since entry ${seq} a call waits for a summary, and does so after its time is over`);
  });
};

/** The process that holds the thread; undefined while none does, so that nothing is done for it. */
export const holderOf = (
  processes: readonly SimulatedProcess[],
  { newestToken }: WatchedJournal,
): SimulatedProcess | undefined =>
  processes.find(({ alive, opening }) => alive && opening?.token === newestToken && !opening.over);

/** Whether the summary that is outstanding is in the hands of a handler that has not answered. */
export const isBeingWritten = ({ work }: SimulatedProcess, { outstanding }: WatchedJournal): boolean =>
  [...work].some(
    ({ id, type, signal }) => type === "summary" && !signal.aborted && outstanding.some((effect) => effect.id === id),
  );

/** Longer than a few entries that are slow to be written. */
const longestAppendMs = 300;
