// No part of Node is imported here: the contracts of stores run in a browser too.
import type { Clock } from "@colloquy/host";

/** Time that stands still, and the wake-ups that were asked for. */
export const createWheel = (startAt: number): Wheel => {
  if (!Number.isFinite(startAt))
    throw new RangeError(`a clock can't start at ${startAt}: give milliseconds since the epoch`);
  let now = startAt;
  // In order of due time, then of registration.
  let wakeUps: readonly WakeUp[] = [];
  let asked: PromiseWithResolvers<void> | undefined;

  return {
    now: () => now,
    wakeAt: (dueAt, callback, kind) => {
      if (!Number.isFinite(dueAt)) throw new RangeError(`can't wake at ${dueAt}: give milliseconds since the epoch`);
      const wakeUp: WakeUp = { dueAt, callback, isBackground: kind === "background" };
      wakeUps = insert(wakeUps, wakeUp);
      asked?.resolve();
      asked = undefined;
      return () => {
        wakeUps = wakeUps.filter((other) => other !== wakeUp);
      };
    },
    pending: () => wakeUps.map(({ dueAt }) => dueAt),
    hasReasonToMove: () => wakeUps.some(({ dueAt, isBackground }) => !isBackground || dueAt <= now),
    nextDue: () => wakeUps[0]?.dueAt,
    fireNext: () => {
      const [next, ...rest] = wakeUps;
      if (next === undefined) return false;
      wakeUps = rest;
      now = Math.max(now, next.dueAt);
      next.callback();
      return true;
    },
    moveTo: (at) => {
      now = Math.max(now, at);
    },
    whenAsked: () => {
      asked ??= Promise.withResolvers<void>();
      return asked.promise;
    },
  };
};

interface Wheel {
  readonly now: () => number;
  readonly wakeAt: Clock["wakeAt"];
  readonly pending: () => readonly number[];
  /** False when nothing is due but what waits in the background. */
  readonly hasReasonToMove: () => boolean;
  readonly nextDue: () => number | undefined;
  /** Moves time to the next wake-up, if that is in the future, and calls it. False when there is none. */
  readonly fireNext: () => boolean;
  readonly moveTo: (at: number) => void;
  /** Resolves at the next registration of a wake-up. */
  readonly whenAsked: () => Promise<void>;
}

interface WakeUp {
  readonly dueAt: number;
  readonly callback: () => void;
  readonly isBackground: boolean;
}

/** Returns `wakeUps` with one more, after those that are due no later. */
const insert = (wakeUps: readonly WakeUp[], wakeUp: WakeUp): readonly WakeUp[] => {
  let index = wakeUps.length;
  while (index > 0 && (wakeUps[index - 1]?.dueAt ?? 0) > wakeUp.dueAt) index--;
  return wakeUps.toSpliced(index, 0, wakeUp);
};
