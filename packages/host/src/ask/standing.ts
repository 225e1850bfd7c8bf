import type { DroppedBecause, State, Turn } from "@colloquy/machine";
import { turnNumbered } from "@colloquy/machine";

/** Where an ask is that a thread was told of. */
export type Standing =
  | { readonly type: "waits" }
  /** A turn answers it, or it waits to join one. */
  | { readonly type: "open"; readonly turn: number }
  | { readonly type: "ended"; readonly turn: Turn }
  | { readonly type: "dropped"; readonly because: DroppedBecause };

/** Null for an ask that the thread does not know, or not any more. */
export const standingOf = (state: State, askId: string): Standing | null => {
  const { open, queue, dropped } = state.context;
  const isMeant = (ask: { readonly askId: string }): boolean => ask.askId === askId;
  if (open !== null && (open.asks.some(isMeant) || open.joining.some(isMeant)))
    return { type: "open", turn: open.number };
  if (queue.some(isMeant)) return { type: "waits" };
  const because = dropped.find(isMeant)?.because;
  if (because !== undefined) return { type: "dropped", because };
  const turn = newestTurn(state, ({ asks }) => asks.some(isMeant));
  return turn === undefined ? null : { type: "ended", turn };
};

const newestTurn = (state: State, test: (turn: Turn) => boolean): Turn | undefined => {
  const { length } = state.context.conversation.turns;
  for (let number = length; number > Math.max(0, length - remembered); number--) {
    const turn = turnNumbered(state, number);
    if (turn !== undefined && test(turn)) return turn;
  }
  return undefined;
};

/** As far back as the machine recognises a repeated ask. */
const remembered = 256;
