import type { SimulatedProcess } from "../world/process.ts";
import type { WatchedJournal } from "./watched-journal.ts";

/** Whether a process holds the thread from now on without having died, stood still, or let it go; null when it does not hold it. */
export const undisturbed = (process: SimulatedProcess, journal: WatchedJournal): (() => boolean) | null => {
  const { opening, pauses } = process;
  // Who is late may not know that somebody else took over.
  if (opening === null || process.paused || opening.token !== journal.newestToken) return null;
  return () => process.alive && process.opening === opening && !opening.over && process.pauses === pauses;
};
