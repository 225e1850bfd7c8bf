import type { Entry } from "@colloquy/machine";

/** An entry of a thread to which nothing but a note is added, again and again. */
export const entry = (seq: number): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } }
    : { seq, event: { type: "turn.annotated", at: seq, turn: 1, name: "note", value: `entry ${seq}` } };

/** The first ones of such a thread. */
export const entriesOf = (count: number): readonly Entry[] => Array.from({ length: count }, (_, seq) => entry(seq));
