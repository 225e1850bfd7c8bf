import type { HostedThread } from "@colloquy/host";
import { type Turn, turnsOf } from "@colloquy/machine";
import { isRecorded, type SessionTurn, sessionTurn } from "./turns.ts";

/** Takes back the newest recorded calls, and the failed turns between them. Returns them, newest first. */
export const undoCalls = async (thread: HostedThread, calls: number): Promise<readonly SessionTurn[]> => {
  checkCalls("undo", calls);
  const state = await thread.state();
  const undone = state === null || calls === 0 ? [] : turnsOf(state).filter(isRecorded).slice(-calls);
  const [oldest] = undone;
  if (oldest !== undefined) await thread.moveHead(oldest.parent);
  return undone.map(sessionTurn).reverse();
};

/**
 * Moves towards the newest call that continues from here, by `calls` calls or fewer if there are no more. Returns them,
 * newest first.
 */
export const redoCalls = async (thread: HostedThread, calls: number): Promise<readonly SessionTurn[]> => {
  checkCalls("redo", calls);
  const redone: Turn[] = [];
  if ((await thread.state()) === null) return redone.map(sessionTurn);
  while (redone.length < calls) {
    const [next] = await thread.redo(1);
    if (next === undefined) break;
    if (isRecorded(next)) redone.unshift(next);
  }
  return redone.map(sessionTurn);
};

const checkCalls = (name: string, calls: number): void => {
  if (!(Number.isSafeInteger(calls) && calls >= 0))
    throw new RangeError(`${name}: the number of calls is ${calls}; it must be a whole number, 0 or more`);
};
