import type { Entry } from "@colloquy/machine";

/** A possible state of a thread, journal and snapshot together. */
export interface ThreadState {
  /** The JSON of its entries. */
  readonly journal: readonly string[];
  /** The head; null for none. */
  readonly snapshot: string | null;
}

export type EnvelopeState = "absent" | "left" | "answered";

/** The state that a process sees, and the states that a power cut may leave. */
export interface Known<State> {
  readonly seen: State;
  readonly left: readonly State[];
}

/**
 * The possible states of a thread: of its acknowledged writes, and of those that were under way when a process died.
 */
export interface Expected {
  thread: Known<ThreadState>;
  readonly envelopes: Map<string, Known<EnvelopeState>>;
}

/**
 * The effect of an operation on a thread: the states that may be left before its acknowledgement, beside the earlier
 * one, and the state after it.
 */
export interface Step {
  readonly meanwhile: readonly ThreadState[];
  readonly after: Known<ThreadState>;
}

export const nothingThere: ThreadState = { journal: [], snapshot: null };

export const expectedOf = (state: ThreadState): Expected => ({ thread: certainly(state), envelopes: new Map() });

export const certainly = <State>(state: State): Known<State> => ({ seen: state, left: [state] });

/** All that was appended before is flushed with it. */
export const appended = ({ seen, left }: Known<ThreadState>, entries: readonly Entry[]): Step => {
  const journal = [...seen.journal, ...entries.map((entry) => JSON.stringify(entry))];
  if (seen.journal.length > 0) {
    const after = left.map(({ snapshot }) => ({ journal, snapshot }));
    return { meanwhile: after, after: { seen: { journal, snapshot: seen.snapshot }, left: after } };
  }
  // A thread that begins has no snapshot, whatever a cut has left of one that was deleted.
  const begun = { journal, snapshot: null };
  return { meanwhile: [...left.map((state) => ({ ...state, snapshot: null })), begun], after: certainly(begun) };
};

/** The snapshot goes first. */
export const rewritten = ({ seen, left }: Known<ThreadState>, entry: Entry): Step => {
  const after = { journal: seen.journal.with(entry.seq, JSON.stringify(entry)), snapshot: null };
  return { meanwhile: [...left.map((state) => ({ ...state, snapshot: null })), after], after: certainly(after) };
};

export const snapshotSaved = ({ seen, left }: Known<ThreadState>, snapshot: string): Step => {
  const after = left.map(({ journal }) => ({ journal, snapshot }));
  return { meanwhile: after, after: { seen: { ...seen, snapshot }, left: after } };
};

/** The journal goes last. */
export const deleted = ({ left }: Known<ThreadState>): Step => ({
  meanwhile: [...left.map((state) => ({ ...state, snapshot: null })), nothingThere],
  after: certainly(nothingThere),
});

export const underWay = <State>({ seen, left }: Known<State>, meanwhile: readonly State[]): Known<State> => ({
  seen,
  left: distinct([...left, ...meanwhile]),
});

const distinct = <State>(states: readonly State[]): readonly State[] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
];
