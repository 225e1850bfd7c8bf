/** The probability of each fault, from 0 to 1, at each of the named occasions. */
export interface Faults {
  /** At each crossing into or out of the host: its process dies there, and another is started. */
  readonly crash: number;
  /** At each such crossing: the process pauses for up to 1.5 s, and its lease (600 ms) may expire. */
  readonly pause: number;
  /** At each action of the user: the process is asked to stop, and another takes over at once. */
  readonly handover: number;
  /** At each start of a process: it runs with another configuration than the last one. */
  readonly reconfigure: number;
  /** At each call of a hook, in conversations with hooks: it takes up to 20 ms. */
  readonly hookSlow: number;
  /** At each call of a hook: it throws. */
  readonly hookThrows: number;
  /** At each action of the user: it goes to a second host, which competes for the lease. */
  readonly rival: number;
  /**
   * At each value that leaves a host, or was passed in: the receiver, or the caller, writes into all of it. In a third
   * of the conversations the policy, its summariser, the counter and the pricing do so each time.
   */
  readonly scribbles: number;
  /** At each append: nothing is written, and the host gets an error. */
  readonly appendFails: number;
  /** At each append: it is written, and the host gets an error nevertheless. */
  readonly appendUnacknowledged: number;
  /** At each append: it takes up to 40 ms, and is written at some time in between. */
  readonly appendSlow: number;
  /** At each other call of the store (a lease, a read): it fails. */
  readonly storeFails: number;
  /** At each other call of the store: it takes up to 40 ms. */
  readonly storeSlow: number;
  /** At each read of a snapshot: it differs from what was written, or a part is missing. */
  readonly snapshotDamaged: number;
  /** At each model call: it fails in any way, with or without a shown part, or a wait that the server asks for. */
  readonly llmFails: number;
  /** At each model call: its handler throws, which no handler should do. */
  readonly llmThrows: number;
  /** At each model call: it never answers. */
  readonly llmNever: number;
  /** At each model call: it does not notice that it is cancelled, and answers nevertheless. */
  readonly llmDeaf: number;
  /** At each generated summary: it is empty, too long, cut off, or a call of a tool. */
  readonly summaryUnusable: number;
  /** At each generated summary: it takes up to 600 ms, which is longer than a call waits for it. */
  readonly summaryLate: number;
  /** At each tool run: it throws. */
  readonly toolThrows: number;
  /** At each tool run: it never answers. */
  readonly toolNever: number;
  /** At each tool run: it does not notice that it is cancelled, and answers nevertheless. */
  readonly toolDeaf: number;
  /** At each generated tool call: its tool does not exist. */
  readonly unknownTool: number;
  /** At each generated tool call: its arguments are not JSON, or do not fit. */
  readonly invalidArguments: number;
  /** At each generated tool call: it has the provider's id of an earlier call, or none. */
  readonly repeatedCallId: number;
  /** At each journalled answer: it is sent again, later. */
  readonly repeatedAnswer: number;
  /** At each answer that was lost in a crash: it arrives nevertheless, at a later process. */
  readonly lateAnswer: number;
}

export type Fault = keyof Faults;

/** The default probabilities: most conversations meet a few faults, and few meet none. */
export const defaultFaults: Faults = {
  crash: 0.006,
  pause: 0.002,
  handover: 0.03,
  rival: 0.06,
  scribbles: 0.1,
  reconfigure: 0.1,
  hookSlow: 0.2,
  hookThrows: 0.05,
  appendFails: 0.008,
  appendUnacknowledged: 0.008,
  appendSlow: 0.08,
  storeFails: 0.02,
  storeSlow: 0.1,
  snapshotDamaged: 0.2,
  llmFails: 0.15,
  llmThrows: 0.01,
  llmNever: 0.03,
  llmDeaf: 0.1,
  summaryUnusable: 0.2,
  summaryLate: 0.2,
  toolThrows: 0.08,
  toolNever: 0.04,
  toolDeaf: 0.1,
  unknownTool: 0.06,
  invalidArguments: 0.06,
  repeatedCallId: 0.2,
  repeatedAnswer: 0.06,
  lateAnswer: 0.3,
};

const none: readonly [Fault, number][] = Object.keys(defaultFaults).map((fault) => [
  // The keys of the defaults are all the faults.
  fault as Fault,
  0,
]);

/** The probabilities without any fault. */
export const noFaults: Faults = { ...defaultFaults, ...Object.fromEntries(none) };

/** Returns the given probabilities, with defaults for the rest. @throws RangeError for an invalid probability */
export const faultsOf = (given: Partial<Faults> | "none"): Faults => {
  if (given === "none") return noFaults;
  const faults: Faults = { ...defaultFaults, ...given };
  for (const [fault, probability] of Object.entries(faults)) {
    if (!(fault in defaultFaults)) {
      throw new RangeError(`there is no fault "${fault}"; there are: ${Object.keys(defaultFaults).join(", ")}`);
    }
    if (!(probability >= 0 && probability <= 1)) {
      throw new RangeError(`the fault "${fault}" has the probability ${probability}; it must be from 0 to 1`);
    }
  }
  return faults;
};
