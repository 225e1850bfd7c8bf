import { lastTurnOf, type State, textOf, toArray, type Usage } from "@colloquy/machine";
import { type Block, messageBlocks } from "../blocks/block.ts";

/** The part of a thread that is shown when it is opened. */
export interface Opening {
  /** The number of closed turns on the path. */
  readonly turns: number;
  readonly usage: Usage;
  /** The blocks of the last closed turn. */
  readonly last: readonly Block[];
  /** The open turn: its first ask, and its questions so far. */
  readonly open: { readonly askId: string; readonly questions: readonly string[] } | null;
  /** The asks that wait for the open turn. */
  readonly queue: readonly { readonly askId: string; readonly text: string }[];
}

/** Returns what is shown of a thread when it is opened. Reads only its last turns, so that a long thread opens at once. */
export const openingOf = (state: State): Opening => {
  const { open, queue, usage } = state.context;
  const last = lastTurnOf(state);
  const first = open?.asks[0];
  const asking = open === null ? [] : toArray(open.messages).filter(({ role }) => role === "user");
  return {
    turns: last?.place.turns ?? 0,
    usage: usage.total,
    last: last === undefined ? [] : messageBlocks(toArray(last.messages)),
    open: first === undefined ? null : { askId: first.askId, questions: asking.map(textOf) },
    queue: queue.map(({ askId, input }) => ({
      askId,
      text: typeof input === "string" ? input : "a question of another process",
    })),
  };
};
