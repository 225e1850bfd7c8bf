// One of several ways to do the same conversation. A process loads only one of them.
import type { Script } from "../kit/script.ts";

export interface Side {
  readonly open: (threadId: string) => Promise<Turn> | Turn;
  readonly close: () => Promise<void> | void;
}

export type Turn = (text: string) => Promise<string>;

/** Opens a side, whose model follows the script. `place` has its threads: a file, or the URL of a server. */
export type OpenSide = (script: Script, place: string) => Promise<Side> | Side;

/** The schema of the threads on a shared server, removed after the measurements. */
export const schema = "colloquy_bench";

/** The number of turns that a window shows before the open one. */
export const turnsShown = 10;
