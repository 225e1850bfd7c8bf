// One way to converse, beside others that do the same work. A process has one of them, and nothing of the others.
import type { Script } from "../kit/script.ts";

export interface Side {
  /** Opens a thread that is new, or one that is kept. */
  readonly open: (threadId: string) => Promise<Turn> | Turn;
  readonly close: () => Promise<void> | void;
}

/** Asks, and gives the answer. */
export type Turn = (text: string) => Promise<string>;

/** Its model says what the script says. `place` is where it keeps threads: a file, or the URL of a server. */
export type OpenSide = (script: Script, place: string) => Promise<Side> | Side;

/** Where threads are on a server, which may have those of others; removed when all is measured. */
export const schema = "colloquy_bench";

/** How many turns a window shows before the open one. */
export const turnsShown = 10;
