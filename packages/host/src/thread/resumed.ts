import type { State } from "@colloquy/machine";
import { turnOfEffect } from "@colloquy/machine/hosting";
import type { AskHandle } from "../ask/ask-handle.ts";

/** A thread that goes on, and what goes on there. A handle that nobody awaits keeps nothing open, and rejects nothing. */
export interface Resumed {
  readonly threadId: string;
  /** The turn that goes on; null where none is open. Awaiting it gives the result; iterating shows what happens from here on. */
  readonly turn: AskHandle | null;
  /** The asks that wait for their turns, in order. */
  readonly queued: readonly AskHandle[];
}

/** By their ids: an ask of the turn that is open, and those that wait. */
export interface AsksUnderWay {
  readonly turn: string | null;
  readonly queued: readonly string[];
}

export const asksUnderWay = ({ context: { open, queue } }: State): AsksUnderWay => ({
  turn: open?.asks[0]?.askId ?? null,
  queued: queue.map(({ askId }) => askId),
});

/** The same, where the open turn is the one that an effect is of. */
export const asksOfEffect = (state: State, effectId: string): AsksUnderWay => {
  const underWay = asksUnderWay(state);
  return state.context.open?.number === turnOfEffect(effectId) ? underWay : { ...underWay, turn: null };
};
