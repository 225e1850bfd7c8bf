/** How often each fault comes: probabilities from 0 to 1, of what is said at each. */
export interface Faults {
  /** Of each time that something enters or leaves the host: its process dies there, and another is started. */
  readonly crash: number;
  /** As above: the process stands still for up to 1.5 s, and its lease (600 ms) may run out. */
  readonly pause: number;
  /** Of each thing that the user does: the process is asked to stop, and another takes over at once. */
  readonly handover: number;
  /** Of each process that starts: it runs with another configuration than the one before. */
  readonly reconfigure: number;
  /** Of each time that a hook is called, in conversations with hooks: it takes up to 20 ms. */
  readonly hookSlow: number;
  /** As above: it throws. */
  readonly hookThrows: number;
  /** Of each thing that the user does: it is done on a second host, which competes for the lease. */
  readonly rival: number;
  /** Of each time that something leaves a host, or was handed in: the one that was given it, or handed it in, writes into all of it. In a third of the conversations the policy, its summariser, the counter and the pricing do so each time. */
  readonly scribbles: number;
  /** Of each append: nothing is written, and the host gets an error. */
  readonly appendFails: number;
  /** Of each append: it is written, and the host gets an error all the same. */
  readonly appendUnacknowledged: number;
  /** Of each append: it takes up to 40 ms, and is written at some time in between. */
  readonly appendSlow: number;
  /** Of each other call to the store (a lease, reading): it fails. */
  readonly storeFails: number;
  /** As above: it takes up to 40 ms. */
  readonly storeSlow: number;
  /** Of each time that a snapshot is read: it is not as it was written, or some of it is gone. */
  readonly snapshotDamaged: number;
  /** Of each model call: it fails, of any kind, with or without something shown, or a wait that the server asks for. */
  readonly llmFails: number;
  /** Of each model call: its handler throws, which no handler should. */
  readonly llmThrows: number;
  /** Of each model call: it never answers. */
  readonly llmNever: number;
  /** Of each model call: it does not notice that it is cancelled, and answers all the same. */
  readonly llmDeaf: number;
  /** Of each summary that the model makes up: it is empty, too long, cut off, or a call of a tool. */
  readonly summaryUnusable: number;
  /** As above: it takes up to 600 ms, which is longer than a call waits for it. */
  readonly summaryLate: number;
  /** Of each tool run: it throws. */
  readonly toolThrows: number;
  /** Of each tool run: it never answers. */
  readonly toolNever: number;
  /** Of each tool run: it does not notice that it is cancelled, and answers all the same. */
  readonly toolDeaf: number;
  /** Of each tool call that the model makes up: of a tool that does not exist. */
  readonly unknownTool: number;
  /** As above: with arguments that are no JSON, or do not fit. */
  readonly invalidArguments: number;
  /** As above: with the provider's id of an earlier call, or none. */
  readonly repeatedCallId: number;
  /** Of each answer that is journalled: it is sent once more, later. */
  readonly repeatedAnswer: number;
  /** Of each answer that a crash swallowed: it arrives after all, at a later process. */
  readonly lateAnswer: number;
}

export type Fault = keyof Faults;

/** So that most conversations meet a few faults, and few meet none. */
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
  // The keys of the defaults are the faults, all of them.
  fault as Fault,
  0,
]);

/** Nothing goes wrong. */
export const noFaults: Faults = { ...defaultFaults, ...Object.fromEntries(none) };

/** The faults that are meant: those given, the rest at their default. @throws RangeError for what is no probability. */
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
