/** An entry of a journal that is written by hand, without its place. */
export interface Placeless {
  readonly seq?: number;
  readonly event: object;
  readonly decided?: object;
}

/** Entries in their places, each a millisecond after the one before it. */
export const placed = (entries: readonly Placeless[]): readonly object[] =>
  entries.map((entry, seq) => ({ ...entry, seq, event: { at: seq, ...entry.event } }));

export const begun = { format: 2, event: { type: "thread.started", threadId: "t" } };
/** A cut that leaves out nothing. */
export const everything = { policy: "keep-all@1", from: null, interrupted: "keep" };
export const output = { name: "title", schema: {}, mode: "native", repairs: 0 };
/** As a journal keeps it of a machine. */
export const configuration = { fingerprint: "f", tools: [] };
