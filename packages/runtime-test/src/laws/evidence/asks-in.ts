import { type State, toArray } from "@colloquy/machine";

/** The place of an ask. `turn` is its turn, or the turn that it joins. */
interface PlacedAsk {
  readonly askId: string;
  readonly place: "queued" | "joining" | "turn" | "dropped";
  readonly turn: number | null;
}

/** Returns all asks in a state, found by a simple, slow search. An ask in two places is returned twice. */
export const asksIn = (state: State | null): readonly PlacedAsk[] => {
  if (state === null) return [];
  const { conversation, open, queue, dropped } = state.context;
  const turns = [...toArray(conversation.turns), ...(open === null ? [] : [open])];
  return [
    ...turns.flatMap(({ number, asks }) => asks.map(({ askId }) => ({ askId, place: "turn", turn: number }) as const)),
    ...(open?.joining ?? []).map(({ askId }) => ({ askId, place: "joining", turn: open?.number ?? null }) as const),
    ...queue.map(({ askId }) => ({ askId, place: "queued", turn: null }) as const),
    ...dropped.map(({ askId }) => ({ askId, place: "dropped", turn: null }) as const),
  ];
};
