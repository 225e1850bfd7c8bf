import type { Entry } from "@colloquy/machine";

/** What a thread may look like, journal and snapshot together. */
export interface ThreadState {
  /** The JSON of its entries. */
  readonly journal: readonly string[];
  /** The head; null for none. */
  readonly snapshot: string | null;
}

export type EnvelopeState = "absent" | "left" | "answered";

/** What a process sees, and what a power cut may leave. */
export interface Known<State> {
  readonly seen: State;
  readonly left: readonly State[];
}

/** What may be there of a thread: what was acknowledged, and what was under way when a process died. */
export interface Expected {
  thread: Known<ThreadState>;
  readonly envelopes: Map<string, Known<EnvelopeState>>;
}

/** What an operation makes of a thread: what may be left of it beside what was there before, and what is there when it is acknowledged. */
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

/** In any order. */
export const deleted = ({ left }: Known<ThreadState>): Step => ({
  meanwhile: [
    ...left.flatMap((state) => [
      { ...state, snapshot: null },
      { ...state, journal: [] },
    ]),
    nothingThere,
  ],
  after: certainly(nothingThere),
});

export const underWay = <State>({ seen, left }: Known<State>, meanwhile: readonly State[]): Known<State> => ({
  seen,
  left: distinct([...left, ...meanwhile]),
});

const distinct = <State>(states: readonly State[]): readonly State[] => [
  ...new Map(states.map((state) => [JSON.stringify(state), state])).values(),
];
