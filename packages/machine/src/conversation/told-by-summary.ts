import { isBefore } from "../thread/path.ts";
import type { Thread } from "../thread/thread.ts";
import type { SummaryTask } from "../prompt/policy.ts";

/** Whether a summary tells of a turn, itself or through the older summary that it was made from. */
export const isToldBySummary = (thread: Thread, turn: number, { covers, earlier }: SummaryTask): boolean =>
  turn >= Math.min(covers.from, earlier?.from ?? covers.from) && isBefore(thread, turn, covers.to);
