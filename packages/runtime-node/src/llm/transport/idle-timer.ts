import type { Clock } from "@colloquy/host";

/** Minds the silence between two signs of life. */
export interface IdleTimer {
  /** There was a sign of life. */
  readonly touch: () => void;
  /** It was silent for too long. */
  readonly isOver: () => boolean;
  /** No more need to mind. */
  readonly stop: () => void;
}

/**
 * Calls back once when nothing happened for `idleMs` milliseconds from now on, or from the last `touch`; never
 * without a limit. A touch costs one look at the clock: the timer is set again only when it rings.
 */
export const idleTimer = (clock: Clock, idleMs: number | undefined, onIdle: () => void): IdleTimer => {
  let over = false;
  if (idleMs === undefined) return { touch: () => {}, isOver: () => over, stop: () => {} };
  let touchedAt = clock.now();
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.wakeAt(touchedAt + idleMs, () => {
      if (clock.now() < touchedAt + idleMs) {
        arm();
        return;
      }
      over = true;
      onIdle();
    });
  };
  arm();
  return { touch: () => (touchedAt = clock.now()), isOver: () => over, stop: () => cancel() };
};

/**
 * Calls back `endMs` milliseconds after the `touch` with which an answer was finished. One that is not finished then, since
 * another choice of it began, is waited for again.
 */
export const endTimer = (
  clock: Clock,
  endMs: number | undefined,
  isFinished: () => boolean,
  onEnd: () => void,
): Omit<IdleTimer, "isOver"> => {
  let cancel: (() => void) | undefined;
  return {
    touch: () => {
      if (endMs === undefined || cancel !== undefined || !isFinished()) return;
      cancel = clock.wakeAt(clock.now() + endMs, () => {
        cancel = undefined;
        if (isFinished()) onEnd();
      });
    },
    stop: () => cancel?.(),
  };
};
