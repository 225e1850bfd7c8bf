import type { Mistake } from "../../kit/program.ts";

export const faults = {
  "no-guards": "an append checks neither lease nor position, so a tab stalled past its lease still writes",
  "locks-ignored": "the lease of any other tab counts as a dead tab's",
  "lock-outlives-tab": "a dead tab counts as alive until its lease expires",
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
