import type { State } from "@colloquy/machine";

/**
 * Whether nothing has to be done for a thread before somebody says something: no turn is open or about to be, or the
 * open one only waits for approvals, which is state, and may take days.
 */
export const isAtRest = ({ value, context: { open, queue } }: State): boolean => {
  if (open === null) return queue.length === 0;
  return typeof value === "object" && "awaiting_tool" in value && value.awaiting_tool === "awaiting_approval"
    ? open.deadlineAt === null
    : false;
};
