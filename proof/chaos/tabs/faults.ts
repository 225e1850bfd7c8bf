import type { Mistake } from "../../kit/mistakes.ts";

/**
 * Ways to break what the tabs test, so that a test can show that they would notice. Each is what a plausible mistake in
 * the store would do.
 */
export const faults = {
  "no-guards": "an append looks neither at the lease nor at the place: a tab that stood still past its lease writes on",
  "locks-ignored": "any other tab's lease counts as that of a tab that is gone",
  "lock-outlives-tab": "a tab that is gone counts as alive until its lease runs out",
} as const;

export type Fault = keyof typeof faults;

const sources = "/packages/runtime-browser/src/indexed-db/";

const looks = "return tab !== null && this.#lock !== null && !(await this.#lock.lives(tab));";

export const mistakes: Readonly<Record<Fault, readonly Mistake[]>> = {
  "no-guards": [
    {
      file: `${sources}indexed-db-store.ts`,
      text: "if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);",
      instead: "void SequenceConflictError;",
    },
    {
      file: `${sources}leases.ts`,
      text: "if (row === null || row.until <= this.#clock.now()) throw new LeaseLostError(lease);",
      instead: "void LeaseLostError;",
    },
  ],
  "locks-ignored": [{ file: `${sources}leases.ts`, text: looks, instead: "return tab !== null;" }],
  "lock-outlives-tab": [{ file: `${sources}leases.ts`, text: looks, instead: "return tab === undefined;" }],
};
