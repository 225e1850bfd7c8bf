import type { Entry } from "@colloquy/machine";

/** Returns an entry of a thread that only ever gets notes. */
export const entry = (seq: number): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } }
    : { seq, event: { type: "turn.annotated", at: seq, turn: 1, name: "note", value: `entry ${seq}` } };

/** Returns the first entries of such a thread. */
export const entriesOf = (count: number): readonly Entry[] => Array.from({ length: count }, (_, seq) => entry(seq));
