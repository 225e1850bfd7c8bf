/**
 * The probability of each fault, from 0 to 1, at each of the named occasions. With these defaults most conversations
 * meet a few faults, and few meet none.
 */
export const defaultFaults = {
  /** At each crossing into or out of the host: its process dies there, and another is started. */
  crash: 0.006,
  /** At each such crossing: the process pauses for up to 1.5 s, and its lease (600 ms) may expire. */
  pause: 0.002,
  /** At each action of the user: the process is asked to stop, and another takes over at once. */
  handover: 0.03,
  /** At each action of the user: it goes to a second host, which competes for the lease. */
  rival: 0.06,
  /**
   * At each value that leaves a host, or was passed in: the receiver, or the caller, writes into all of it. In a third
   * of the conversations the policy, its summariser, the counter and the pricing do so each time.
   */
  scribbles: 0.1,
  /** At each start of a process: it runs with another configuration than the last one. */
  reconfigure: 0.1,
  /** At each call of a hook, in conversations with hooks: it takes up to 20 ms. */
  hookSlow: 0.2,
  /** At each call of a hook: it throws. */
  hookThrows: 0.05,
  /** At each append: nothing is written, and the host gets an error. */
  appendFails: 0.008,
  /** At each append: it is written, and the host gets an error nevertheless. */
  appendUnacknowledged: 0.008,
  /** At each append: it takes up to 40 ms, and is written at some time in between. */
  appendSlow: 0.08,
  /** At each other call of the store (a lease, a read): it fails. */
  storeFails: 0.02,
  /** At each other call of the store: it takes up to 40 ms. */
  storeSlow: 0.1,
  /** At each read of a snapshot: it differs from what was written, or a part is missing. */
  snapshotDamaged: 0.2,
  /** At each model call: it fails in any way, with or without a shown part, or a wait that the server asks for. */
  llmFails: 0.15,
  /** At each model call: its handler throws, which no handler should do. */
  llmThrows: 0.01,
  /** At each model call: it never answers. */
  llmNever: 0.03,
  /** At each model call: it does not notice that it is cancelled, and answers nevertheless. */
  llmDeaf: 0.1,
  /** At each generated summary: it is empty, too long, cut off, or a call of a tool. */
  summaryUnusable: 0.2,
  /** At each generated summary: it takes up to 600 ms, which is longer than a call waits for it. */
  summaryLate: 0.2,
  /** At each tool run: it throws. */
  toolThrows: 0.08,
  /** At each tool run: it never answers. */
  toolNever: 0.04,
  /** At each tool run: it does not notice that it is cancelled, and answers nevertheless. */
  toolDeaf: 0.1,
  /** At each generated tool call: its tool does not exist. */
  unknownTool: 0.06,
  /** At each generated tool call: its arguments are not JSON, or do not fit. */
  invalidArguments: 0.06,
  /** At each generated tool call: it has the provider's id of an earlier call, or none. */
  repeatedCallId: 0.2,
  /** At each journalled answer: it is sent again, later. */
  repeatedAnswer: 0.06,
  /** At each answer that was lost in a crash: it arrives nevertheless, at a later process. */
  lateAnswer: 0.3,
} as const;

/** The probability of each fault: see `defaultFaults`. */
export type Faults = { readonly [Each in keyof typeof defaultFaults]: number };

export type Fault = keyof Faults;

/** The probabilities without any fault. */
export const noFaults: Faults =
  // The keys of the defaults are all the faults.
  Object.fromEntries(Object.keys(defaultFaults).map((fault) => [fault, 0])) as Faults;

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
