import type { Handled } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import { ThreadClosedError } from "../boundary/errors.ts";
import type { LeasedThread } from "./leased-thread.ts";

/**
 * A thread was closed while an entry was being stored. Where that says that a tool starts, which it now does not, the
 * call is told to be interrupted: else nobody could say later whether it ran.
 *
 * @returns why the thread ended.
 */
export const endedMeanwhile = async (
  leased: LeasedThread | null,
  { state, entry }: Handled,
  reason: Error,
): Promise<Error> => {
  const { event } = entry;
  if (leased === null || event.type !== "tool.started" || !(reason instanceof ThreadClosedError)) return reason;
  const { at, effectId } = event;
  const told = transition(leased.host.machine, state, {
    type: "tool.failed",
    at,
    effectId,
    outcome: "interrupted",
    content: "The tool was not run: the process that was to run it was closed before. Call it again if it is needed.",
  });
  if (told.handled) await leased.append(told.entry);
  return reason;
};
