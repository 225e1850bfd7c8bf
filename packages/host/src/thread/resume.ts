import type { State } from "@colloquy/machine";
import { turnOfEffect } from "@colloquy/machine/hosting";
import type { AskHandle } from "../ask/ask-handle.ts";
import { earlierAsk } from "./asking.ts";
import { ThreadClosedError } from "../boundary/errors.ts";
import { look, type ThreadRef } from "./thread-ref.ts";

/**
 * A thread that continues, with handles to its unfinished asks. A handle that is never awaited keeps nothing open, and
 * rejects nothing.
 */
export interface Resumed {
  readonly threadId: string;
  /**
   * The turn that continues; null if none is open. Awaiting it gives the result; iterating shows what happens from here
   * on.
   */
  readonly turn: AskHandle | null;
  /** The asks that wait for their turns, in order. */
  readonly queued: readonly AskHandle[];
}

export interface AsksUnderWay {
  readonly turn: string | null;
  readonly queued: readonly string[];
}

export const asksUnderWay = ({ context: { open, queue } }: State): AsksUnderWay => ({
  turn: open?.asks[0]?.askId ?? null,
  queued: queue.map(({ askId }) => askId),
});

/** Returns the ids of the unfinished asks. The turn's ask is included only if the open turn is that of the effect. */
export const asksOfEffect = (state: State, effectId: string): AsksUnderWay => {
  const underWay = asksUnderWay(state);
  return state.context.open?.number === turnOfEffect(effectId) ? underWay : { ...underWay, turn: null };
};

/** Continues a thread. Returns handles to its unfinished asks. @throws ThreadUnknownError, ThreadHeldError */
export const resume = async (thread: ThreadRef): Promise<Resumed> => {
  // Made before the thread continues, so that they are shown all of it.
  const resumed = handlesTo(thread, await look(thread, asksUnderWay));
  await continueThread(thread);
  return resumed;
};

/** Opens a thread, so that its unfinished work continues. @throws ThreadUnknownError, ThreadHeldError */
export const continueThread = async ({ id, loops }: ThreadRef): Promise<void> => {
  const loop = loops.use(id);
  if (loop === null) throw new ThreadClosedError(id);
  await loop.run(() => null);
};

export const handlesTo = (thread: ThreadRef, asks: AsksUnderWay | null): Resumed => {
  const { turn, queued } = asks ?? { turn: null, queued: [] };
  return {
    threadId: thread.id,
    turn: turn === null ? null : earlierAsk(thread, turn),
    queued: queued.map((askId) => earlierAsk(thread, askId)),
  };
};
